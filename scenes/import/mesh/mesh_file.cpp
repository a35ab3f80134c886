#include "scenes/import/mesh/mesh_file.hpp"

#include "scenes/import/mesh/mesh_mass.hpp"
#include "scenes/import/mesh/obj_file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string_view>

#ifdef COSTATE_HAVE_ASSIMP
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <assimp/IOSystem.hpp>
#include <assimp/Importer.hpp>
#endif

namespace costate {
namespace {

constexpr std::uintmax_t max_bytes = std::uintmax_t{256} << 20;

std::string lower(std::string text) {
    for (char& c : text)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// A binary STL is recognized by its length: 84 bytes, of which the last four are the number of triangles,
// and 50 bytes per triangle. 0 for other files. head: the first 84 bytes, or more
std::uint32_t triangles_of_binary_stl(std::string_view head, std::uint64_t size) {
    std::uint32_t count = 0;
    if (head.size() >= 84) std::memcpy(&count, head.data() + 80, 4);
    return size == 84 + std::uint64_t{50} * count ? count : 0;
}

std::string bytes_of(const std::filesystem::path& file, const std::string& type) {
    const std::string name = file.string();
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        throw MeshFileError("there is no file " + name, "correct the path");
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (size == 0) throw MeshFileError(name + " is empty", "export it again");
    if (size > max_bytes) throw MeshFileError(name + " is larger than 256 MiB", "use fewer triangles");
    std::ifstream in(file, std::ios::binary);
    std::array<char, 84> head{};
    in.read(head.data(), head.size());
    if (type == ".stl" &&
        triangles_of_binary_stl({head.data(), static_cast<size_t>(in.gcount())}, size) > max_triangles)
        throw MeshFileError(name + " has more than 1000000 triangles", "use fewer triangles");
    in.clear();
    in.seekg(0);
    std::string bytes(static_cast<size_t>(size), '\0');
    if (!in.read(bytes.data(), static_cast<std::streamsize>(size)))
        throw MeshFileError(name + " cannot be read", "check its permissions");
    return bytes;
}

// True if a text starts as an ASCII STL but does not end as one, which assimp ignores.
bool cut_short(const std::string& bytes) {
    if (triangles_of_binary_stl(bytes, bytes.size()) > 0) return false;
    if (lower(bytes.substr(0, 5)) != "solid") return false;
    const std::string tail = lower(bytes.substr(bytes.size() - std::min<size_t>(bytes.size(), 1000)));
    const size_t end = tail.rfind("endsolid");
    return end == std::string::npos || tail.find("facet", end) != std::string::npos;
}

// An MSH file: four counts (32-bit integers) of vertices, normals, texture coordinates and triangles; then, in
// single precision, 3, 3 and 2 numbers of each; then three vertex indices of each triangle.
TriangleMesh parse_msh(const std::string& bytes, const std::string& name) {
    const auto broken = [&](const std::string& what) -> MeshFileError {
        return {name + " " + what, "export it again"};
    };
    std::array<std::int32_t, 4> counts{};
    if (bytes.size() < sizeof counts) throw broken("is cut short");
    std::memcpy(counts.data(), bytes.data(), sizeof counts);
    const auto [vertices, normals, texture, triangles] = counts;
    if (std::ranges::min(counts) < 0 || vertices == 0) throw broken("has no vertices");
    const std::uint64_t numbers = 3ull * static_cast<std::uint64_t>(vertices) +
                                  3ull * static_cast<std::uint64_t>(normals) +
                                  2ull * static_cast<std::uint64_t>(texture),
                        corners = 3ull * static_cast<std::uint64_t>(triangles);
    if (bytes.size() != sizeof counts + 4 * (numbers + corners))
        throw broken("does not have the size that it states");
    if (static_cast<std::uint64_t>(triangles) > max_triangles)
        throw broken("has more than 1000000 triangles");
    TriangleMesh mesh;
    const char* at = bytes.data() + sizeof counts;
    for (std::int32_t i = 0; i < vertices; ++i, at += 12) {
        std::array<float, 3> x{};
        std::memcpy(x.data(), at, sizeof x);
        mesh.vertices.emplace_back(x[0], x[1], x[2]);
        if (!mesh.vertices.back().allFinite()) throw broken("has a vertex that is not finite");
    }
    at = bytes.data() + sizeof counts + 4 * numbers;
    for (std::int32_t i = 0; i < triangles; ++i, at += 12) {
        std::array<std::int32_t, 3> corner{};
        std::memcpy(corner.data(), at, sizeof corner);
        if (std::ranges::min(corner) < 0 || std::ranges::max(corner) >= vertices)
            throw broken("refers to a vertex that it does not contain");
        mesh.triangles.push_back({corner[0], corner[1], corner[2]});
    }
    if (mesh.triangles.empty()) throw broken("has no triangle");
    return mesh;
}

size_t occurrences(const std::string& bytes, std::string_view of) {
    size_t count = 0;
    for (size_t at = bytes.find(of); at != std::string::npos; at = bytes.find(of, at + of.size()))
        ++count;
    return count;
}

// The triangles that a DAE file states in the "count" of their lists.
std::uint64_t stated_in_dae(const std::string& bytes) {
    std::uint64_t sum = 0;
    for (const std::string_view list : {"<triangles", "<polylist", "<polygons"})
        for (size_t at = bytes.find(list); at != std::string::npos; at = bytes.find(list, at + 1)) {
            const size_t count = bytes.find("count=", at);
            if (count < bytes.find('>', at))
                sum += std::min<std::uint64_t>(std::strtoul(bytes.c_str() + count + 7, nullptr, 10),
                                               max_triangles + 1);
        }
    return sum;
}

// Refuses a file with too many triangles or vertices before it is parsed, which takes long and much memory.
void refuse_too_large(const std::string& bytes, const std::string& type, const std::string& name) {
    std::uint64_t triangles = 0, vertices = 0;
    if (type == ".stl") {
        if (triangles_of_binary_stl(bytes, bytes.size()) == 0) triangles = occurrences(bytes, "endloop");
    } else if (type == ".obj") {
        triangles = occurrences(bytes, "\nf ");
        vertices = occurrences(bytes, "\nv ");
    } else if (type == ".dae") {
        triangles = stated_in_dae(bytes);
    }
    if (triangles > max_triangles)
        throw MeshFileError(name + " has more than 1000000 triangles", "use fewer triangles");
    if (vertices > 3 * max_triangles)
        throw MeshFileError(name + " has more than 3000000 vertices", "use fewer");
}

// Collects triangles; vertices at the same position are merged.
class Gatherer {
public:
    explicit Gatherer(std::string name) : name_(std::move(name)) {}

    // The index of a vertex.
    int vertex(const Vec3<double>& x) {
        if (!x.allFinite())
            throw MeshFileError(name_ + " has a vertex that is not finite", "export it again");
        const auto [it, added] =
            index_.try_emplace({x.x(), x.y(), x.z()}, static_cast<int>(mesh_.vertices.size()));
        if (added) mesh_.vertices.push_back(x);
        if (mesh_.vertices.size() > 3 * max_triangles)
            throw MeshFileError(name_ + " has more than 3000000 vertices", "use fewer");
        return it->second;
    }
    void triangle(const std::array<int, 3>& corners) {
        if (has_area(corners)) mesh_.triangles.push_back(corners);
        if (mesh_.triangles.size() > max_triangles)
            throw MeshFileError(name_ + " has more than 1000000 triangles", "use fewer triangles");
    }
    TriangleMesh take() {
        if (mesh_.triangles.empty())
            throw MeshFileError(name_ + " has no triangle with an area", "export a surface");
        return std::move(mesh_);
    }

private:
    bool has_area(const std::array<int, 3>& corners) const {
        const auto at = [&](size_t k) { return mesh_.vertices[corners[k]]; };
        const Vec3<double> u = at(1) - at(0), w = at(2) - at(0);
        return u.cross(w).norm() > 1e-9 * (u.squaredNorm() + w.squaredNorm());
    }

    std::string name_;
    TriangleMesh mesh_;
    std::map<std::array<double, 3>, int> index_;
};

// All objects as one mesh.
TriangleMesh merged(const std::vector<TriangleMesh>& objects, const std::string& name) {
    Gatherer gatherer(name);
    for (const TriangleMesh& object : objects) {
        std::vector<int> index;
        for (const Vec3<double>& x : object.vertices)
            index.push_back(gatherer.vertex(x));
        for (const auto& [i, j, k] : object.triangles)
            gatherer.triangle({index[i], index[j], index[k]});
    }
    return gatherer.take();
}

#ifdef COSTATE_HAVE_ASSIMP

// Keeps assimp from opening other files, such as materials and textures.
struct NoOtherFiles : Assimp::IOSystem {
    bool Exists(const char*) const override { return false; }
    char getOsSeparator() const override { return '/'; }
    Assimp::IOStream* Open(const char*, const char*) override { return nullptr; }
    void Close(Assimp::IOStream*) override {}
};

// X transforms from the frame of the mesh to that of the file.
void gather(const aiMesh& mesh, const Eigen::Matrix4d& X, const std::string& name, Gatherer& to) {
    std::vector<int> index;
    for (unsigned i = 0; i < mesh.mNumVertices; ++i) {
        const aiVector3D& v = mesh.mVertices[i];
        index.push_back(to.vertex((X * Eigen::Vector4d(v.x, v.y, v.z, 1)).head<3>()));
    }
    const bool mirrored = X.topLeftCorner<3, 3>().determinant() < 0;
    for (unsigned i = 0; i < mesh.mNumFaces; ++i) {
        const aiFace& face = mesh.mFaces[i];
        if (face.mNumIndices != 3) continue;  // points and lines
        std::array<int, 3> corners{};
        for (size_t k = 0; k < 3; ++k) {
            if (face.mIndices[k] >= index.size())
                throw MeshFileError(name + " refers to a vertex that it does not contain", "export it again");
            corners[k] = index[face.mIndices[k]];
        }
        if (mirrored) std::swap(corners[1], corners[2]);
        to.triangle(corners);
    }
}

Eigen::Matrix4d matrix(const aiMatrix4x4& m) {
    return Eigen::Map<const Eigen::Matrix<ai_real, 4, 4, Eigen::RowMajor>>(&m.a1).cast<double>();
}

constexpr const char* export_again = "export it again";

// The fault of a file that assimp does not read. Its own message would name a file that it has made up.
MeshFileError unreadable(const std::string& bytes, const std::string& type, const std::string& name) {
    std::string kind = type.substr(1);
    std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::toupper(c); });
    std::string what = name + " is not a readable " + kind + " file";
    if (bytes.empty()) what += ": it is empty";
    if (type == ".stl" && bytes.size() >= 84 && lower(bytes.substr(0, 5)) != "solid") {
        std::uint32_t stated = 0;
        std::memcpy(&stated, bytes.data() + 80, sizeof stated);
        what += ": it states " + std::to_string(stated) + " triangles and has room for " +
                std::to_string((bytes.size() - 84) / 50);
    }
    return {what, export_again};
}

TriangleMesh parse_here(const std::string& bytes, const std::string& type, const std::string& name) {
    Assimp::Importer importer;
    importer.SetIOHandler(new NoOtherFiles);  // the importer owns it
    // keeps the up axis of the file
    importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
    const aiScene* scene =
        importer.ReadFileFromMemory(bytes.data(), bytes.size(), aiProcess_Triangulate, type.c_str());
    if (scene == nullptr || scene->mRootNode == nullptr) throw unreadable(bytes, type, name);

    Gatherer gatherer(name);
    std::vector<std::pair<const aiNode*, Eigen::Matrix4d>> open{
        {scene->mRootNode, Eigen::Matrix4d::Identity()}};
    while (!open.empty()) {
        const auto [node, X_parent] = open.back();
        open.pop_back();
        const Eigen::Matrix4d X = X_parent * matrix(node->mTransformation);
        for (unsigned i = 0; i < node->mNumMeshes; ++i)
            gather(*scene->mMeshes[node->mMeshes[i]], X, name, gatherer);
        for (unsigned i = node->mNumChildren; i-- > 0;)
            open.emplace_back(node->mChildren[i], X);
    }
    return gatherer.take();
}

// The encoding of results for the parent process: a size and that many items, or a size and a text.
template <class Items> void pack(std::string& out, const Items& items) {
    const size_t size = items.size();
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out.append(reinterpret_cast<const char*>(items.data()), size * sizeof items[0]);
}
template <class Items> bool unpack(const std::string& in, size_t& at, Items& items) {
    size_t size = 0;
    if (in.size() - at < sizeof size) return false;
    std::memcpy(&size, in.data() + at, sizeof size);
    at += sizeof size;
    if ((in.size() - at) / sizeof items[0] < size) return false;
    items.resize(size);
    if (size > 0) std::memcpy(static_cast<void*>(items.data()), in.data() + at, size * sizeof items[0]);
    at += size * sizeof items[0];
    return true;
}

// The encoded result of reading: fault, remedy, vertices and triangles. Either the first two or the last two
// are empty.
std::string packed_result(const std::string& bytes, const std::string& type, const std::string& name) {
    std::string what, remedy, out;
    TriangleMesh mesh;
    try {
        mesh = parse_here(bytes, type, name);
    } catch (const MeshFileError& e) {
        what = e.what();
        remedy = e.remedy;
    } catch (const std::exception&) {
        what = unreadable(bytes, type, name).what();
        remedy = export_again;
    }
    pack(out, what);
    pack(out, remedy);
    pack(out, mesh.vertices);
    pack(out, mesh.triangles);
    return out;
}

// Runs in the child process: reads the mesh and writes the result to `to`. Limits: one minute of CPU time;
// beyond the memory at its start, 1 GiB and 40 times the size of the file; no output on the terminal.
[[noreturn]] void answer(int to, const std::string& bytes, const std::string& type, const std::string& name) {
    const auto limit = [](auto resource, rlim_t most) {
        const rlimit both{most, most};
        setrlimit(resource, &both);
    };
    limit(RLIMIT_CPU, 60);
    limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__
    rlim_t pages = 0;
    if (std::ifstream("/proc/self/statm") >> pages)
        limit(RLIMIT_AS,
              pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{1} << 30) + 40 * bytes.size());
#endif
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    const std::string out = packed_result(bytes, type, name);
    for (size_t done = 0; done < out.size();) {
        const ssize_t n = write(to, out.data() + done, out.size() - done);
        if (n < 0 && errno != EINTR) _exit(1);
        done += n < 0 ? 0 : static_cast<size_t>(n);
    }
    _exit(0);
}

// Parses in a child process, because assimp 5.2 crashes on some broken DAE files.
TriangleMesh parse(const std::string& bytes, const std::string& type, const std::string& name) {
    int ends[2];
    if (pipe(ends) != 0)
        throw MeshFileError("opening a pipe to read " + name + " failed", "close other files");
    const pid_t reader = fork();
    if (reader == 0) answer(ends[1], bytes, type, name);
    close(ends[1]);
    std::string in;
    char part[1 << 16];
    for (ssize_t n = 1; n != 0 && reader > 0;) {
        n = read(ends[0], part, sizeof part);
        if (n < 0 && errno != EINTR) break;
        in.append(part, n < 0 ? 0 : static_cast<size_t>(n));
    }
    close(ends[0]);
    if (reader < 0)
        throw MeshFileError("starting a process to read " + name + " failed", "end other processes");
    while (waitpid(reader, nullptr, 0) < 0 && errno == EINTR) {
    }
    std::string what, remedy;
    TriangleMesh mesh;
    size_t at = 0;
    if (!unpack(in, at, what) || !unpack(in, at, remedy) || !unpack(in, at, mesh.vertices) ||
        !unpack(in, at, mesh.triangles))
        throw MeshFileError(unreadable(bytes, type, name).what(), "export it again, or as another type");
    if (!what.empty()) throw MeshFileError(what, remedy);
    return mesh;
}

#else

TriangleMesh parse(const std::string&, const std::string&, const std::string& name) {
    throw MeshFileError("this build of costate cannot read " + name + " without assimp",
                        "install libassimp-dev and build again, or give vertices instead of a file");
}

#endif

}  // namespace

TriangleMesh read_mesh_file(const std::filesystem::path& file) {
    const std::string type = lower(file.extension().string());
    if (type != ".obj" && type != ".stl" && type != ".dae" && type != ".msh")
        throw MeshFileError(file.string() + " is neither .obj nor .stl nor .dae nor .msh",
                            "convert it to one of these");
    const std::string bytes = bytes_of(file, type);
    refuse_too_large(bytes, type, file.string());
    if (type == ".msh") return parse_msh(bytes, file.string());
    if (type == ".stl" && cut_short(bytes))
        throw MeshFileError(file.string() + " ends before \"endsolid\"", "export it again");
    if (type == ".obj" && is_plain_obj(bytes)) {
        const std::vector<TriangleMesh> objects = parse_obj(bytes, file.string());
        try {
            if (!objects.empty() && objects[0].triangles.empty()) return hull_surface(objects[0].vertices);
        } catch (const std::invalid_argument&) {
            throw MeshFileError(file.string() + " has points in one plane", "export a surface");
        }
        if (!objects.empty()) return merged(objects, file.string());
    }
    return parse(bytes, type, file.string());
}

std::vector<TriangleMesh> read_mesh_solids(const std::filesystem::path& file) {
    if (lower(file.extension().string()) == ".obj") {
        const std::string bytes = bytes_of(file, ".obj");
        refuse_too_large(bytes, ".obj", file.string());
        const std::vector<TriangleMesh> objects = parse_obj(bytes, file.string());
        const std::vector<std::vector<size_t>> solids = solids_of_objects(objects);
        std::vector<TriangleMesh> out;
        if (solids.size() > 1)
            for (const std::vector<size_t>& solid : solids) {
                std::vector<TriangleMesh> parts;
                for (const size_t i : solid)
                    parts.push_back(objects[i]);
                try {
                    out.push_back(merged(parts, file.string()));
                } catch (const MeshFileError&) {  // without area
                }
            }
        if (!out.empty()) return out;
    }
    return {read_mesh_file(file)};
}

}  // namespace costate
