// A program of its own: counts every call of the allocator, Bullet's included, while steps run.
// Nothing may be allocated in `step` and `step_adj` once a rollout has been seen.
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "tests/toy_worlds.hpp"

namespace {
bool counting = false;
long calls = 0;

// glibc's own allocator behind the names that are replaced below
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);
}  // namespace

extern "C" {
void* malloc(size_t n) { calls += counting; return __libc_malloc(n); }
void* calloc(size_t n, size_t size) { calls += counting; return __libc_calloc(n, size); }
void* realloc(void* p, size_t n) { calls += counting; return __libc_realloc(p, n); }
void* aligned_alloc(size_t alignment, size_t n) { calls += counting; return __libc_memalign(alignment, n); }
void* memalign(size_t alignment, size_t n) { calls += counting; return __libc_memalign(alignment, n); }
int posix_memalign(void** p, size_t alignment, size_t n) {
    calls += counting;
    *p = __libc_memalign(alignment, n);
    return *p == nullptr ? ENOMEM : 0;
}
}

int main() {
    using namespace costate;
    using namespace costate::test;
    // The counter must see what it is for.
    counting = true;
    delete new volatile int(1);
    std::free(std::malloc(1));
    counting = false;
    if (calls < 2) return std::puts("the counter counts nothing"), 1;
    calls = 0;

    int contacts = 0;
    for (unsigned seed = 1; seed <= 10; ++seed) {
        const ToyState t = toy_contact_state(seed);
        const World& w = t.world;
        StepScratch<double> s(w);
        std::vector<VecX<double>> x(51, VecX<double>(w.nx()));
        VecX<double> theta_bar = VecX<double>::Zero(w.np()), x_bar = VecX<double>::Zero(w.ndx()), u_bar = VecX<double>::Zero(w.nu()), seed_bar = VecX<double>::Ones(w.ndx());
        x[0] = t.x;
        for (const bool count : {false, true}) {
            counting = count;
            for (size_t k = 0; k < 50; ++k) {
                step(w, t.theta.data(), x[k].data(), t.u.data(), s, x[k + 1].data());
                s.clear_bars();
                step_adj(w, t.theta.data(), x[k].data(), t.u.data(), s, seed_bar.data(), theta_bar.data(), x_bar.data(), u_bar.data());
                contacts += static_cast<int>(s.contacts.points.size());
            }
            counting = false;
        }
    }
    std::printf("%ld allocations in 500 steps and adjoints with %d contacts\n", calls, contacts);
    return calls == 0 && contacts > 1000 ? 0 : 1;
}
