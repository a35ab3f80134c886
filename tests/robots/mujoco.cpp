// Beside MuJoCo, if the program is built with it. The equation of motion of a step without constraints,
//
//   M (v_next - v)/h + B (v_next - v) + c = f_passive + f_actuators,
//
// takes v_next from costate and all else from MuJoCo at the state before the step. Bodies that are alone on a free or
// ball joint do not spin: costate evaluates their gyroscopic torque at the middle of the step. B is the damping that a step of
// costate takes implicitly: of joints, and the velocity gains of actuators at joints that are not saturated.
#include <fstream>
#include <map>
#include <sstream>

#include "tests/robots/robots.hpp"
#ifdef COSTATE_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

namespace costate::test {
#ifdef COSTATE_HAVE_MUJOCO
namespace {

// The file with all constraints switched off, and the numbers of muscles that follow from them.
CModel load_without_constraints(const std::filesystem::path& file, const std::string& search) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    std::string xml = text.str();
    const size_t end = xml.rfind("</mujoco");
    if (end == std::string::npos) throw std::runtime_error("no <mujoco>");
    xml.insert(end, "<option><flag constraint=\"disable\"/></option>");
    costate_load_options options{};
    options.size = sizeof options;
    const char* const folder = search.c_str();
    options.search = &folder;
    options.n_search = search.empty() ? 0 : 1;
    costate_model* model = nullptr;
    check(costate_model_parse(xml.data(), xml.size(), "mjcf", file.c_str(), &options, &model));
    CModel out(model);
    const CModel whole = load_robot(file, nullptr, search);
    std::map<std::string, double> muscles;
    for (int i = 0; i < whole.nparam; ++i)
        if (const std::string name = whole.name(COSTATE_PARAMETER, i);
            name.starts_with("actuators/") &&
            (name.find("/length_range") != std::string::npos || name.ends_with("/force")))
            muscles[name] = whole.theta[static_cast<size_t>(i)];
    for (int i = 0; i < out.nparam; ++i)
        if (const auto given = muscles.find(out.name(COSTATE_PARAMETER, i)); given != muscles.end())
            out.theta[static_cast<size_t>(i)] = given->second;
    check(costate_model_set_parameters(out.get(), out.theta.data(), out.theta.size()));
    return out;
}

using MuJoCoModel = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using MuJoCoData = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

MuJoCoModel load_mujoco(const std::filesystem::path& file) {
    char error[1000] = "";
    MuJoCoModel m(mj_loadXML(file.c_str(), nullptr, error, sizeof error), mj_deleteModel);
    if (!m) {
        std::string line = error;
        std::ranges::replace(line, '\n', ' ');
        throw std::runtime_error("MuJoCo: " + line);
    }
    return m;
}

std::string own_name(const std::string& name) { return name.substr(name.find('/') + 1); }

// The dofs and coordinates must be the same, in the same order.
void check_same(const CModel& ours, const mjModel& theirs) {
    const auto differ = [](const char* what, int a, int b) {
        if (a != b)
            throw std::runtime_error(std::string(what) + ": " + std::to_string(a) + " here, " +
                                     std::to_string(b) + " in MuJoCo");
    };
    differ("coordinates", ours.nq, static_cast<int>(theirs.nq));
    differ("dofs", ours.nv, static_cast<int>(theirs.nv));
    differ("actuators", ours.nu, static_cast<int>(theirs.nu));
    differ("activations", costate_model_count(ours.get(), COSTATE_ACTIVATION), static_cast<int>(theirs.na));
    for (int i = 0; i < costate_model_count(ours.get(), COSTATE_JOINT); ++i) {
        int layout[4];
        check(costate_model_joint(ours.get(), i, layout));
        if (layout[3] == 0) continue;
        const int joint = theirs.dof_jntid[layout[2]];
        const char* name = mj_id2name(&theirs, mjOBJ_JOINT, joint);
        if (theirs.jnt_qposadr[joint] != layout[0]) throw std::runtime_error("joints in another order");
        const std::string own = own_name(ours.name(COSTATE_JOINT, i));
        if (name != nullptr && *name != 0 && own != name)
            throw std::runtime_error("joint " + own + " is " + name + " in MuJoCo");
    }
}

// Before 3.1.0, MuJoCo takes the mass of a mesh for that of a box with the same inertia (its commit 49ddb7ca). There,
// bodies with meshes get the masses, centres and inertias that they have here.
void correct_masses_of_meshes(const CModel& ours, mjModel& m, mjData& d) {
    if (mj_version() >= 310) return;
    std::map<std::string, double> theta;
    for (int i = 0; i < ours.nparam; ++i)
        theta[own_name(ours.name(COSTATE_PARAMETER, i))] = ours.theta[static_cast<size_t>(i)];
    for (int g = 0; g < m.ngeom; ++g) {
        const int body = m.geom_bodyid[g];
        const char* name = mj_id2name(&m, mjOBJ_BODY, body);
        if (m.geom_type[g] != mjGEOM_MESH || name == nullptr || m.body_mass[body] == 0) continue;
        const auto number = [&](const std::string& of) {
            for (const auto& [path, value] : theta)
                if (path.ends_with(name + ("/" + of))) return value;
            throw std::runtime_error(std::string(name) + " has no " + of + " here");
        };
        m.body_mass[body] = number("mass");
        mjtNum* const centre = m.body_ipos + 3 * body;
        for (int k = 0; k < 3; ++k)
            centre[k] = number("com[" + std::to_string(k) + "]");
        double I[6], axes[9];
        for (int k = 0; k < 6; ++k)
            I[k] = number("inertia[" + std::to_string(k) + "]");
        const double matrix[] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
        mju_eig3(m.body_inertia + 3 * body, axes, m.body_iquat + 4 * body, matrix);
        m.body_sameframe[body] = m.body_simple[body] = 0;
    }
    std::fill_n(m.dof_simplenum, m.nv, 0);
    mj_setConst(&m, &d);
}

// -1: the actuator has none
int activation_of(const mjModel& m, int actuator) {
#if mjVERSION_HEADER >= 300
    return m.actuator_actadr[actuator];
#else
    return std::max(actuator - static_cast<int>(m.nu - m.na),
                    -1);  // those with an activation are the last ones
#endif
}

double next_activation(const mjModel& m, const mjData& d, int actuator) {
    const int i = activation_of(m, actuator);
    double dt = m.opt.timestep;
#if mjVERSION_HEADER >= 300
    const double tau = m.actuator_dynprm[mjNDYN * actuator];
    if (m.actuator_dyntype[actuator] == mjDYN_FILTEREXACT) dt = tau * -std::expm1(-dt / tau);
#endif
    const double next = d.act[i] + dt * d.act_dot[i], *range = m.actuator_actrange + 2 * actuator;
    return m.actuator_actlimited[actuator] ? std::clamp(next, range[0], range[1]) : next;
}

// What the gain of an actuator multiplies: its activation or its control.
double input(const mjModel& m, const mjData& d, int actuator) {
    const int activation = activation_of(m, actuator);
#if mjVERSION_HEADER >= 300
    if (activation >= 0 && m.actuator_actearly[actuator]) return next_activation(m, d, actuator);
#endif
    if (activation >= 0) return d.act[activation];
    const double* const range = m.actuator_ctrlrange + 2 * actuator;
    return m.actuator_ctrllimited[actuator] ? std::clamp(d.ctrl[actuator], range[0], range[1])
                                            : d.ctrl[actuator];
}

// B, from MuJoCo's model and the forces of its actuators
Vector implicit_damping(const mjModel& m, const mjData& d) {
    Vector B(m.dof_damping, m.dof_damping + m.nv);
#if mjVERSION_HEADER >= 337
    constexpr int passive = mjDSBL_DAMPER;
#else
    constexpr int passive = mjDSBL_PASSIVE;
#endif
    if ((m.opt.disableflags & passive) != 0) std::ranges::fill(B, 0);
    if ((m.opt.disableflags & mjDSBL_ACTUATION) != 0) return B;
    for (int i = 0; i < m.nu; ++i) {
        const int joint = m.actuator_trnid[2 * i];
        const bool at_joint =
            m.actuator_trntype[i] == mjTRN_JOINT || m.actuator_trntype[i] == mjTRN_JOINTINPARENT;
        if (!at_joint) continue;
        const double *range = m.actuator_forcerange + 2 * i, force = d.actuator_force[i];
        if (m.actuator_forcelimited[i] && (force <= range[0] || force >= range[1])) continue;
#if mjVERSION_HEADER >= 300
        const double *limits = m.jnt_actfrcrange + 2 * joint, total = d.qfrc_actuator[m.jnt_dofadr[joint]];
        if (m.jnt_actfrclimited[joint] && (total <= limits[0] || total >= limits[1])) continue;
#endif
        const double gain = m.actuator_gaintype[i] == mjGAIN_AFFINE ? m.actuator_gainprm[mjNGAIN * i + 2] : 0,
                     bias = m.actuator_biastype[i] == mjBIAS_AFFINE ? m.actuator_biasprm[mjNBIAS * i + 2] : 0,
                     slope = bias + gain * input(m, d, i), gear = m.actuator_gear[6 * i];
        if (slope < 0) B[m.jnt_dofadr[joint]] -= gear * gear * slope;
    }
    return B;
}

// The first of the three dofs of each rotation of a body that carries no joint further on.
std::vector<int> lone_spins(const mjModel& m) {
    std::vector<int> out;
    for (int j = 0; j < m.njnt; ++j) {
        const int type = m.jnt_type[j], body = m.jnt_bodyid[j];
        if ((type != mjJNT_FREE && type != mjJNT_BALL) || m.body_dofnum[body] != (type == mjJNT_FREE ? 6 : 3))
            continue;
        const auto carries = [&](int other) {
            for (int b = m.jnt_bodyid[other]; b != 0; b = m.body_parentid[b])
                if (b == body) return other != j;
            return false;
        };
        bool alone = true;
        for (int other = 0; other < m.njnt; ++other)
            alone = alone && !carries(other);
        if (alone) out.push_back(m.jnt_dofadr[j] + (type == mjJNT_FREE ? 3 : 0));
    }
    return out;
}

}  // namespace

double smooth_error_beside_mujoco(const std::filesystem::path& file, const std::string& search, int states,
                                  unsigned long long seed) {
    const MuJoCoModel m = load_mujoco(file);
    const MuJoCoData d(mj_makeData(m.get()), mj_deleteData);
    const CModel ours = load_without_constraints(file, search);
    check_same(ours, *m);
    correct_masses_of_meshes(ours, *m, *d);
    const double h = m->opt.timestep;
    const auto nv = static_cast<size_t>(ours.nv);
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    State s = start_of(ours), next;
    const Vector start = s.q;
    Vector turn(nv), M(nv * nv), rate(nv);
    double worst = 0;
    for (int n = 0; n < states; ++n) {
        for (double& e : turn)
            e = 0.3 * normal(bits);
        for (double& e : s.v)
            e = normal(bits);
        for (const int spin : lone_spins(*m))
            std::fill_n(s.v.begin() + spin, 3, 0);
        for (double& e : s.u)
            e = normal(bits);
        for (double& e : s.act)
            e = normal(bits);
        check(costate_retract(ours.get(), start.data(), turn.data(), s.q.data()));
        next = stepped(ours, s);
        mj_resetData(m.get(), d.get());
        std::ranges::copy(s.q, d->qpos);
        for (int j = 0; j < m->njnt; ++j)
            if (m->jnt_type[j] == mjJNT_HINGE || m->jnt_type[j] == mjJNT_SLIDE)
                d->qpos[m->jnt_qposadr[j]] += m->qpos0[m->jnt_qposadr[j]];
        std::ranges::copy(s.v, d->qvel);
        std::ranges::copy(s.u, d->ctrl);
        std::ranges::copy(s.act, d->act);
        mj_fwdPosition(m.get(), d.get());
        mj_fwdVelocity(m.get(), d.get());
        mj_fwdActuation(m.get(), d.get());
#if mjVERSION_HEADER >= 3010000
        mj_fullM(m.get(), d.get(), M.data());
#else
        mj_fullM(m.get(), M.data(), d->qM);
#endif
        const Vector B = implicit_damping(*m, *d);
        for (size_t i = 0; i < nv; ++i)
            rate[i] = (next.v[i] - s.v[i]) / h;
        double error = 0, size = 1e-6;
        for (size_t i = 0; i < nv; ++i) {
            double inertia = 0;
            for (size_t j = 0; j < nv; ++j)
                inertia += M[i * nv + j] * rate[j];
            const double damping = h * B[i] * rate[i], bias = d->qfrc_bias[i],
                         force = d->qfrc_passive[i] + d->qfrc_actuator[i];
            error = std::max(error, std::abs(inertia + damping + bias - force));
            for (const double term : {inertia, damping, bias, d->qfrc_passive[i], d->qfrc_actuator[i]})
                size = std::max(size, std::abs(term));
        }
        worst = std::max(worst, error / size);
        for (int i = 0; i < m->nu; ++i)
            if (const int a = activation_of(*m, i); a >= 0)
                worst =
                    std::max(worst, std::abs(next.act[static_cast<size_t>(a)] - next_activation(*m, *d, i)));
    }
    return worst;
}
#else
double smooth_error_beside_mujoco(const std::filesystem::path&, const std::string&, int, unsigned long long) {
    throw std::runtime_error("built without MuJoCo");
}
#endif

}  // namespace costate::test
