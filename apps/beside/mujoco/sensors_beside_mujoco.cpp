// costate_sensors_beside_mujoco [--law] FILE.xml...: the sensors of MJCF files in costate and in MuJoCo, at random
// states and controls; a table in Markdown with the largest value of each and the largest difference, relative to the
// value, or to 1 if that is more. It fails if one exceeds 1e-9. The files must define the same in both: no contacts, limits, friction and damping.
//
// --law: contacts, limits, friction and damping as MuJoCo has them in both, of files that have them. MuJoCo runs with
// Newton's method to 1e-14. States count in which both find the same gaps of contacts: deep overlaps and full buffers of contacts differ.
#include <costate.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int states = 50;
constexpr double tolerance = 1e-9;

using Vector = std::vector<double>;

int check(int status) {
    if (status < 0) throw std::runtime_error(costate_last_error());
    return status;
}

struct Sensor {
    std::string type;
    int first, count;
};

// The sensors of a model by their own names, without that of the robot.
std::map<std::string, Sensor> sensors_of(const costate_model* model) {
    std::map<std::string, Sensor> out;
    for (int i = 0; i < check(costate_model_count(model, COSTATE_SENSOR)); ++i) {
        char name[256], type[64];
        int layout[2];
        check(costate_model_name(model, COSTATE_SENSOR, i, name, sizeof name));
        check(costate_model_sensor(model, i, layout, type, sizeof type));
        const std::string whole = name;
        out[whole.substr(whole.find('/') + 1)] = {type, layout[0], layout[1]};
    }
    return out;
}

double difference(const Vector& ours, const Vector& theirs, double sign) {
    double worst = 0, size = 1;
    for (size_t k = 0; k < ours.size(); ++k) {
        worst = std::max(worst, std::abs(ours[k] - sign * theirs[k]));
        size = std::max(size, std::abs(theirs[k]));
    }
    return worst / size;
}

void set_law(mjModel& m) {
    m.opt.solver = mjSOL_NEWTON;
    m.opt.tolerance = 1e-14;
    m.opt.iterations = 500;
}

// costate's coordinates of hinges and slides are 0 where the file places their bodies; MuJoCo's are their `ref`
// there.
double reference(const mjModel& m, int joint) {
    const bool has = m.jnt_type[joint] == mjJNT_HINGE || m.jnt_type[joint] == mjJNT_SLIDE;
    return has ? m.qpos0[m.jnt_qposadr[joint]] : 0;
}

// True if the contacts of both have the same gaps.
bool same_contacts(const costate_model* model, const Vector& x, const Vector& u, size_t nq, const mjData& d) {
    std::vector<costate_contact> contacts(static_cast<size_t>(d.ncon) + 1);
    const int n =
        check(costate_contacts(model, x.data(), x.data() + nq, u.data(), contacts.data(), contacts.size()));
    if (n != d.ncon) return false;
    Vector ours, theirs;
    for (int i = 0; i < n; ++i) {
        ours.push_back(contacts[static_cast<size_t>(i)].gap);
        theirs.push_back(d.contact[i].dist);
    }
    std::ranges::sort(ours);
    std::ranges::sort(theirs);
    return difference(ours, theirs, 1) <= tolerance;
}

// The largest difference of each sensor over random states.
bool compare(const std::string& file, bool law) {
    char error[1000] = "";
    const std::unique_ptr<mjModel, decltype(&mj_deleteModel)> m(
        mj_loadXML(file.c_str(), nullptr, error, sizeof error), mj_deleteModel);
    if (!m) throw std::runtime_error(std::string("MuJoCo: ") + error);
    const std::unique_ptr<mjData, decltype(&mj_deleteData)> d(mj_makeData(m.get()), mj_deleteData);
    costate_model* model = nullptr;
    costate_load_options options{};
    options.size = sizeof options;
    if (law) {
        options.law = "mujoco";
        set_law(*m);
    }
    check(costate_model_load_with(file.c_str(), &options, &model));
    const auto nq = static_cast<size_t>(check(costate_model_nq(model))),
               nv = static_cast<size_t>(check(costate_model_nv(model))),
               nu = static_cast<size_t>(check(costate_model_nu(model)));
    if (static_cast<int>(nq) != m->nq || static_cast<int>(nv) != m->nv || static_cast<int>(nu) != m->nu)
        throw std::runtime_error("the two models differ in size: costate has " + std::to_string(nq) + ", " +
                                 std::to_string(nv) + " and " + std::to_string(nu) +
                                 " coordinates, velocities and controls, MuJoCo " + std::to_string(m->nq) +
                                 ", " + std::to_string(m->nv) + " and " + std::to_string(m->nu));
    const std::map<std::string, Sensor> ours = sensors_of(model);

    std::mt19937 bits(1);
    std::normal_distribution<double> normal;
    std::map<std::string, double> worst, largest;
    Vector x(nq + nv), u(nu), y(static_cast<size_t>(check(costate_model_ny(model)))), displacement(nv),
        start(nq), v(nv);
    check(costate_model_initial_state(model, start.data(), v.data()));
    int compared = 0;
    for (int n = 0; n < states; ++n) {
        for (double& each : displacement)
            each = (law ? 0.2 : 0.7) * normal(bits);
        for (size_t j = 0; j < nv; ++j)
            x[nq + j] = normal(bits);
        for (double& each : u)
            each = normal(bits);
        check(costate_retract(model, start.data(), displacement.data(), x.data()));
        check(costate_observe(model, x.data(), u.data(), nullptr, nullptr, y.data()));
        std::copy_n(x.begin(), nq, d->qpos);
        for (int j = 0; j < m->njnt; ++j)
            d->qpos[m->jnt_qposadr[j]] += reference(*m, j);
        mju_zero(d->qacc_warmstart, m->nv);
        std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(nq), nv, d->qvel);
        std::copy(u.begin(), u.end(), d->ctrl);
        mj_forward(m.get(), d.get());
        if (law && !same_contacts(model, x, u, nq, *d)) continue;
        ++compared;
        for (int i = 0; i < m->nsensor; ++i) {
            const char* name = mj_id2name(m.get(), mjOBJ_SENSOR, i);
            const auto found = ours.find(name ? name : "");
            if (found == ours.end()) continue;
            const Sensor& s = found->second;
            if (s.count != m->sensor_dim[i]) throw std::runtime_error(found->first + " has another size");
            Vector a(y.begin() + s.first, y.begin() + s.first + s.count),
                b(d->sensordata + m->sensor_adr[i], d->sensordata + m->sensor_adr[i] + s.count);
            if (m->sensor_type[i] == mjSENS_JOINTPOS) a[0] += reference(*m, m->sensor_objid[i]);
            // a quaternion and its negative are the same rotation
            const double apart =
                s.count == 4 ? std::min(difference(a, b, 1), difference(a, b, -1)) : difference(a, b, 1);
            worst[found->first] = std::max(worst[found->first], apart);
            for (const double each : b)
                largest[found->first] = std::max(largest[found->first], std::abs(each));
        }
    }
    check(costate_model_free(model));
    std::printf(
        "%s: %zu of %d sensors in %d of %d states\n\n| sensor | type | largest difference | largest value "
        "|\n|---|---|---|---|\n",
        file.c_str(), worst.size(), static_cast<int>(m->nsensor), compared, states);
    bool same = !worst.empty();
    for (const auto& [name, apart] : worst) {
        std::printf("| %s | %s | %.1e | %.1e |\n", name.c_str(), ours.at(name).type.c_str(), apart,
                    largest[name]);
        same = same && apart <= tolerance;
    }
    return same;
}

}  // namespace

int main(int argc, char** argv) {
    const bool law = argc > 1 && std::string(argv[1]) == "--law";
    if (argc < (law ? 3 : 2)) {
        std::fprintf(stderr, "usage: costate_sensors_beside_mujoco [--law] FILE.xml...\n");
        return 2;
    }
    int failures = 0;
    for (int i = law ? 2 : 1; i < argc; ++i) {
        try {
            failures += !compare(argv[i], law);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "%s: %s\n", argv[i], e.what());
            ++failures;
        }
    }
    return failures == 0 ? 0 : 1;
}
