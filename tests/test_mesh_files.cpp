// Meshes in files: what is read of OBJ, STL and DAE, and what is said of broken ones.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "scenes/mesh_file.hpp"
#include "tests/mesh_texts.hpp"

using namespace costate;
using namespace costate::test;

namespace {

std::string mesh_complaint(const std::filesystem::path& file) {
    try {
        read_mesh_file(file);
    } catch (const MeshFileError& e) {
        CHECK(std::string(e.what()).find('\n') == std::string::npos);
        CHECK(std::string(e.what()).find(file.string()) != std::string::npos);
        CHECK(!e.remedy.empty());
        return e.what();
    }
    return "no complaint";
}

// Six times the volume that the triangles enclose: positive if they run anticlockwise from outside.
double six_volumes(const TriangleMesh& mesh) {
    double sum = 0;
    const auto at = [&](int v) { return mesh.vertices[static_cast<size_t>(v)]; };
    for (const auto& [a, b, c] : mesh.triangles) sum += at(a).dot(at(b).cross(at(c)));
    return sum;
}

}  // namespace

#ifdef COSTATE_HAVE_ASSIMP

TEST_CASE("mesh files: one wedge from OBJ, ASCII and binary STL, and DAE") {
    const ScratchFolder folder("mesh_files");
    const std::string binary = binary_stl(wedge_triangles());
    for (const auto& [name, text] : {std::pair{"wedge.obj", wedge_obj()}, {"wedge.stl", ascii_stl(wedge_triangles())},
                                     {"binary.STL", binary}, {"wedge.dae", wedge_dae()}}) {
        CAPTURE(name);
        const TriangleMesh mesh = read_mesh_file(folder.write(name, text));
        CHECK(mesh.vertices.size() == 4);  // shared, although an STL repeats them
        CHECK(mesh.triangles.size() == 4);
        CHECK(six_volumes(mesh) == doctest::Approx(0.1 * 0.2 * 0.3).epsilon(1e-6));
        Vec3<double> top = Vec3<double>::Zero();
        for (const Vec3<double>& v : mesh.vertices) top = top.cwiseMax(v);
        CHECK((top - Vec3<double>(0.1, 0.2, 0.3)).norm() < 1e-7);
    }
}

TEST_CASE("mesh files: polygons are cut, what has no area is left out, no other file is opened") {
    const ScratchFolder folder("mesh_polygons");
    const TriangleMesh square = read_mesh_file(folder.write("square.obj", "mtllib nowhere.mtl\nv 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\n"
                                                                          "v 1 0 0\nusemtl none\nf 1 2 3 4\nf 1 5 2\nl 1 3\n"));
    CHECK(square.triangles.size() == 2);
}

TEST_CASE("mesh files: broken ones get a clear line") {
    const ScratchFolder folder("mesh_broken");
    const std::string binary = binary_stl(wedge_triangles()), ascii = ascii_stl(wedge_triangles());
    const auto said = [&](const char* name, const std::string& text) { return mesh_complaint(folder.write(name, text)); };
    CHECK(mesh_complaint(folder.path("none.obj")).find("there is no file") == 0);
    CHECK(mesh_complaint(folder.path("")).find("is neither .obj nor .stl nor .dae") != std::string::npos);
    CHECK(said("wedge.ply", wedge_obj()).find("is neither .obj") != std::string::npos);
    for (const char* name : {"empty.obj", "empty.stl", "empty.dae"}) CHECK(said(name, "").find("is empty") != std::string::npos);
    for (const char* name : {"noise.obj", "noise.stl", "noise.dae"}) {
        CAPTURE(name);
        CHECK(said(name, "this is no mesh at all, however one reads it, is it?\n") != "no complaint");
        CHECK(said(name, std::string(500, '\xff')) != "no complaint");
        CHECK(said(name, std::string(500, '\0')) != "no complaint");
    }
    // binary STL: cut short; a count of triangles that no file can hold
    for (const size_t bytes : {1ul, 80ul, 84ul, 100ul, binary.size() - 1}) {
        CAPTURE(bytes);
        CHECK(said("short.stl", binary.substr(0, bytes)) != "no complaint");
    }
    std::string many = binary;
    std::memset(many.data() + 80, 0xff, 4);
    CHECK(said("many.stl", many) != "no complaint");
    // ASCII STL and DAE: cut short anywhere
    for (size_t bytes = 1; bytes + 4 < ascii.size(); bytes += 7) {
        CAPTURE(bytes);
        CHECK(said("short.stl", ascii.substr(0, bytes)) != "no complaint");
    }
    const std::string dae = wedge_dae();
    for (size_t bytes = 1; bytes + 20 < dae.size(); bytes += 29) {
        CAPTURE(bytes);
        CHECK(said("short.dae", dae.substr(0, bytes)) != "no complaint");
    }
    // numbers that are none
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    for (const float bad : {nan, infinity, -infinity}) {
        auto triangles = wedge_triangles();
        triangles[2][1].y() = bad;
        CHECK(said("bad.stl", binary_stl(triangles)).find("not finite") != std::string::npos);
    }
    for (const char* bad : {"nan", "inf", "1e999"})
        CHECK(said("bad.obj", std::string("v 0 0 0\nv 1 0 0\nv 0 1 ") + bad + "\nf 1 2 3\n") != "no complaint");
    CHECK(said("index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n") != "no complaint");
    CHECK(said("cloud.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n") != "no complaint");
    CHECK(said("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").find("no triangle that has an area") != std::string::npos);
}

#else

TEST_CASE("mesh files: without assimp it is said how to get it") {
    const ScratchFolder folder("mesh_none");
    CHECK(mesh_complaint(folder.write("wedge.obj", wedge_obj())).find("it has no assimp") != std::string::npos);
}

#endif
