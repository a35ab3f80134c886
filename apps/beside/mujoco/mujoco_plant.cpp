// costate_mujoco_plant FILE.xml: MuJoCo as a plant of another program, which apps/beside/mujoco/plant.py starts.
//
// Writes a line "nq nv nu time_step" to stdout. Then, until stdin ends, reads a request and writes its answer, all as
// numbers of 8 bytes in the machine's order:
//   request: integers n, steps; doubles of n environments, each q (nq), v (nv), u (nu)
//   answer: doubles of n environments, each q (nq), v (nv) after `steps` time steps under u, and 1 if it diverged
//     or else 0
// Coordinates of hinges and slides count from the reference configuration, as costate's do. Every request begins
// without memory of the one before; the file's integrator, solver and cone are used.
#include <mujoco/mujoco.h>

#include <cstdint>
#include <cstdio>
#include <memory>

namespace {

using Model = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using Data = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

template <class T> bool read(T* numbers, size_t count) {
    return std::fread(numbers, sizeof(T), count, stdin) == count;
}

// Adds the reference of hinges and slides to q (nq), or takes it away.
void shift(const mjModel& m, double sign, double* q) {
    for (int j = 0; j < m.njnt; ++j)
        if (m.jnt_type[j] == mjJNT_HINGE || m.jnt_type[j] == mjJNT_SLIDE)
            q[m.jnt_qposadr[j]] += sign * m.qpos0[m.jnt_qposadr[j]];
}

// Reads an environment, steps it and writes where it is.
bool serve(const mjModel& m, std::int64_t steps, mjData* d) {
    mj_resetData(&m, d);
    if (!read(d->qpos, m.nq) || !read(d->qvel, m.nv) || !read(d->ctrl, m.nu)) return false;
    shift(m, 1, d->qpos);
    bool diverged = false;
    for (std::int64_t k = 0; k < steps && !diverged; ++k) {
        mj_step(&m, d);
        diverged = d->warning[mjWARN_BADQPOS].number + d->warning[mjWARN_BADQVEL].number +
                       d->warning[mjWARN_BADQACC].number >
                   0;
    }
    shift(m, -1, d->qpos);
    const double flag = diverged ? 1 : 0;
    std::fwrite(d->qpos, sizeof(double), m.nq, stdout);
    std::fwrite(d->qvel, sizeof(double), m.nv, stdout);
    return std::fwrite(&flag, sizeof flag, 1, stdout) == 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: costate_mujoco_plant FILE.xml\n");
        return 2;
    }
    char error[1000] = "";
    const Model m(mj_loadXML(argv[1], nullptr, error, sizeof error), mj_deleteModel);
    if (!m || m->na > 0) {
        std::fprintf(stderr, "costate_mujoco_plant: %s\n", m ? "actuators have activations" : error);
        return 2;
    }
    const Data d(mj_makeData(m.get()), mj_deleteData);
    std::printf("%d %d %d %.17g\n", m->nq, m->nv, m->nu, m->opt.timestep);
    std::fflush(stdout);
    std::int64_t request[2];
    while (read(request, 2)) {
        for (std::int64_t i = 0; i < request[0]; ++i)
            if (!serve(*m, request[1], d.get())) return 1;
        std::fflush(stdout);
    }
}
