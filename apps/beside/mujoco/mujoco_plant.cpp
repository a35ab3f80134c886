// costate_mujoco_plant FILE.xml: MuJoCo as a plant of another program (policies_beside_mujoco.py).
//
// Writes a line "nq nv nu" to stdout. Then, until stdin ends, reads a request and writes its answer, all as
// numbers of 8 bytes in the machine's order:
//   request: the integer n, and the seconds of a control step, a double; of each of n environments q (nq),
//     v (nv) and u (nu)
//   answer: of each environment q (nq) and v (nv) after a control step under u, and 1 if it diverged, else 0
// The time step is that of the file, or a shorter one of which control steps are multiples. Every request begins
// without memory of the one before; the file's integrator, solver and cone are used.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace {

using Model = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using Data = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

template <class T> bool read(T* numbers, size_t count) {
    return std::fread(numbers, sizeof(T), count, stdin) == count;
}

// Reads an environment, steps it and writes where it is.
bool serve(const mjModel& m, int steps, mjData* d) {
    mj_resetData(&m, d);
    if (!read(d->qpos, m.nq) || !read(d->qvel, m.nv) || !read(d->ctrl, m.nu)) return false;
    bool diverged = false;
    for (int k = 0; k < steps && !diverged; ++k) {
        mj_step(&m, d);
        diverged = d->warning[mjWARN_BADQPOS].number + d->warning[mjWARN_BADQVEL].number +
                       d->warning[mjWARN_BADQACC].number >
                   0;
    }
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
    std::printf("%d %d %d\n", m->nq, m->nv, m->nu);
    std::fflush(stdout);
    const double file_step = m->opt.timestep;
    std::int64_t n = 0;
    double seconds = 0;
    while (read(&n, 1) && read(&seconds, 1)) {
        const int steps = std::max(1, static_cast<int>(std::ceil(seconds / file_step - 1e-9)));
        m->opt.timestep = seconds / steps;
        for (std::int64_t i = 0; i < n; ++i)
            if (!serve(*m, steps, d.get())) return 1;
        std::fflush(stdout);
    }
}
