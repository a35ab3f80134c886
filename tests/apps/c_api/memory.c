/* The allocator replaced by one that counts, and that fails when it is told to: what a batch takes is what
 * was announced, calls that find no memory say so, leave nothing behind, and work when they are made again.
 */
#include <errno.h>
#include <stdint.h>

#include "check.h"

/* glibc's own allocator behind the names that are replaced below */
void* __libc_malloc(size_t);
void __libc_free(void*);

static long live_bytes, live_blocks, calls, failed,
    fails_at = -1; /* the call that gets nothing, counted from 0; -1: none */

typedef struct {
    void* base;
    size_t size;
} Header;

static void* take(size_t n, size_t alignment) {
    const long call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (call == __atomic_load_n(&fails_at, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
        errno = ENOMEM;
        return NULL;
    }
    char* base = __libc_malloc(n + alignment + sizeof(Header));
    if (!base) return NULL;
    const uintptr_t at = ((uintptr_t)base + sizeof(Header) + alignment - 1) / alignment * alignment;
    ((Header*)at)[-1] = (Header){base, n};
    __atomic_fetch_add(&live_bytes, (long)n, __ATOMIC_RELAXED);
    __atomic_fetch_add(&live_blocks, 1, __ATOMIC_RELAXED);
    return (void*)at;
}

void* malloc(size_t n) { return take(n, 16); }
void* aligned_alloc(size_t alignment, size_t n) { return take(n, alignment < 16 ? 16 : alignment); }
void* memalign(size_t alignment, size_t n) { return aligned_alloc(alignment, n); }
int posix_memalign(void** p, size_t alignment, size_t n) {
    return (*p = aligned_alloc(alignment, n)) ? 0 : ENOMEM;
}
void* calloc(size_t n, size_t size) {
    void* p = size && n > SIZE_MAX / 2 / size ? NULL : take(n * size, 16);
    return p ? memset(p, 0, n * size) : NULL;
}
void free(void* p) {
    if (!p) return;
    const Header h = ((Header*)p)[-1];
    __atomic_fetch_sub(&live_bytes, (long)h.size, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&live_blocks, 1, __ATOMIC_RELAXED);
    __libc_free(h.base);
}
void* realloc(void* p, size_t n) {
    void* to = take(n, 16);
    if (!to || !p) return to;
    const size_t before = ((Header*)p)[-1].size;
    memcpy(to, p, before < n ? before : n);
    free(p);
    return to;
}

static costate_batch_options options_of(int n_env, int n_threads) {
    costate_batch_options o = {0};
    o.n_env = n_env, o.n_threads = n_threads, o.substeps = 8;
    return o;
}

/* What creating a batch allocates; and what was announced. */
static long allocated(const costate_model* m, const costate_batch_options* o, long* announced) {
    size_t bytes = 0;
    costate_batch* b = NULL;
    CHECK(costate_batch_bytes(m, o, &bytes) == COSTATE_OK);
    const long before = live_bytes;
    CHECK(costate_batch_create(m, o, &b) == COSTATE_OK);
    const long taken = live_bytes - before;
    CHECK(costate_batch_free(b) == COSTATE_OK);
    *announced = (long)bytes;
    return taken;
}

/* A batch takes what is announced and a little to keep account of it, the same for any number of environments
 * and of checkpoints. */
static void bytes_of_a_batch(const char* name) {
    costate_model* m = NULL;
    CHECK(costate_model_load(name, &m) == COSTATE_OK);
    long announced;
    costate_batch_options o = options_of(16, 4);
    allocated(m, &o, &announced); /* workspaces of 4 threads, with lanes, are the model's from here on */
    for (int threads = 1; threads <= 4; ++threads) {
        long account = -1;
        for (int variant = 0; variant < 8; ++variant) {
            o = options_of(variant & 1 ? 64 : 16, threads);
            o.own_parameters = variant >> 1 & 1;
            o.checkpoint_bytes =
                variant & 4 ? sizeof(double) * (size_t)(costate_model_nx(m) * threads * 2) : 0;
            const long more = allocated(m, &o, &announced) - announced;
            if (account < 0) account = more;
            CHECK(more == account);
            CHECK(more >= 0 && more <= 2048 * (threads + 1));
        }
        printf("%s, %d threads: %ld bytes announced of the last, %ld to keep account\n", name, threads,
               announced, account);
    }
    CHECK(costate_model_free(m) == COSTATE_OK);
}

enum { n_env = 3, n_steps = 2, most = 4096 };

/* Where a batch goes, and what its gradients are. */
typedef struct {
    double states[(n_steps + 1) * most], x_bar[most], u_bar[most], theta_bar[most], poses[most],
        look_bar[most];
    int reached; /* how far a life came */
} Life;

static double *theta, *states_bar, *noise_size, *u;
static int nx, ndx, nu, np;

/* Calls that may fail are made again once; both times they find the world as it was. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        int status = (call);                                                                                 \
        if (status == COSTATE_NO_MEMORY) status = (call);                                                    \
        if (status != COSTATE_OK) {                                                                          \
            fprintf(stderr, "%s:%d: %s returned %d (%s)\n", __FILE__, __LINE__, #call, status,               \
                    costate_last_error());                                                                   \
            ++failures;                                                                                      \
        }                                                                                                    \
    } while (0)

static void live(const costate_model* m, int threads, Life* r) {
    costate_batch_options o = options_of(n_env, threads);
    costate_batch* b = NULL;
    size_t bytes;
    const uint64_t seeds[n_env] = {1, 2, 3};
    const int frames[2] = {0, 1};
    TRY(costate_batch_bytes(m, &o, &bytes));
    TRY(costate_batch_create(m, &o, &b));
    TRY(costate_batch_set_parameters(b, theta, (size_t)np));
    TRY(costate_batch_reset(b, NULL, n_env, NULL, NULL, 0, noise_size, seeds));
    TRY(costate_batch_step(b, NULL, u, NULL, NULL));
    TRY(costate_batch_state(b, r->states, NULL));
    TRY(costate_batch_rollout(b, n_steps, NULL, u, r->states + n_env * nx, NULL));
    TRY(costate_batch_backward(b, n_steps, r->states, u, NULL, states_bar, r->x_bar, r->u_bar, r->theta_bar,
                               (size_t)np));
    TRY(costate_batch_poses(b, NULL, frames, 2, r->poses, NULL));
    TRY(costate_batch_poses_vjp(b, NULL, frames, 2, states_bar, NULL, r->look_bar, NULL, 0));
    TRY(costate_batch_free(b));
}

/* A batch from its creation to its end, with each allocation failing in turn. */
static void failing_batches(const char* name, int threads) {
    static Life expected, found;
    long n = 1, tried = 0;
    for (long at = -2; at < n;
         ++at) { /* twice without failure: what is made once and kept, and how many there are */
        const long blocks = live_blocks;
        costate_model* m = NULL;
        CHECK(costate_model_load(name, &m) == COSTATE_OK);
        memset(&found, 0, sizeof found);
        calls = failed = 0, fails_at = at;
        live(m, threads, &found);
        fails_at = -1;
        if (at < 0) n = calls, expected = found;
        tried += failed;
        CHECK(memcmp(&found, &expected, sizeof found) == 0);
        CHECK(costate_model_free(m) == COSTATE_OK);
        if (at >= 0) CHECK(live_blocks == blocks);
    }
    CHECK(largest(expected.theta_bar, np) > 0);
    CHECK(tried > 0);
    printf("%s, %d threads: %ld failures, of about %ld allocations\n", name, threads, tried, n);
}

static void single_calls(const char* name) {
    costate_model* m = NULL;
    CHECK(costate_model_load(name, &m) == COSTATE_OK);
    static double q[most], v[most], x[most], out[most], big[most * 16];
    CHECK(costate_model_initial_state(m, q, v) == COSTATE_OK);
    CHECK(costate_model_initial_state(m, x, x + costate_model_nq(m)) == COSTATE_OK);
    CHECK(costate_model_free(m) == COSTATE_OK);
    long n = 1;
    for (long at = -2; at < n; ++at) {
        const long blocks = live_blocks;
        CHECK(costate_model_load(name, &m) == COSTATE_OK);
        calls = failed = 0, fails_at = at;
        TRY(costate_model_set_parameters(m, theta, (size_t)np));
        TRY(costate_step(m, q, v, u, out, out + nx));
        TRY(costate_step_vjp(m, q, v, u, v, v, out, out, out, NULL));
        TRY(costate_step_jvp(m, q, v, u, NULL, NULL, NULL, NULL, out, out + nx));
        TRY(costate_step_jacobian(m, q, v, u, big, NULL, NULL));
        TRY(costate_state_step(m, x, u, out));
        TRY(costate_state_step_vjp(m, x, u, states_bar, out, NULL, NULL));
        TRY(costate_state_step_jvp(m, x, u, states_bar, NULL, NULL, out));
        TRY(costate_state_step_jacobian(m, x, u, big, NULL, NULL));
        TRY(costate_forward_dynamics(m, q, v, v, out));
        TRY(costate_mass_matrix(m, q, big));
        fails_at = -1;
        if (at < 0) n = calls;
        CHECK(costate_model_free(m) == COSTATE_OK);
        if (at >= 0) CHECK(live_blocks == blocks);
    }
    printf("%s: single calls, %ld failures\n", name, n);
}

static void prepare(const char* name) {
    costate_model* m = NULL;
    CHECK(costate_model_load(name, &m) == COSTATE_OK);
    nx = costate_model_nx(m), ndx = nx - costate_model_nq(m) + costate_model_nv(m), nu = costate_model_nu(m),
    np = costate_model_nparam(m);
    if ((n_steps + 1) * n_env * nx > most || np > most || ndx * ndx > 16 * most) abort();
    theta = numbers(np), states_bar = noises(n_steps * n_env * ndx + 36, 1);
    noise_size = numbers(ndx), u = noises(n_steps * n_env * nu, 0.1);
    for (int i = 0; i < ndx; ++i)
        noise_size[i] = 1e-3;
    CHECK(costate_model_get_parameters(m, theta, (size_t)np) == COSTATE_OK);
    CHECK(costate_model_free(m) == COSTATE_OK);
}
static void clear(void) { free(theta), free(states_bar), free(noise_size), free(u); }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { sanitizer = 1 };
#else
enum { sanitizer = 0 };
#endif

int main(void) {
    if (sanitizer) return puts("the allocator is the sanitizer's: not tried"), 77;
    setvbuf(stdout, NULL, _IOLBF, 0);
    bytes_of_a_batch("go1_stand");
    bytes_of_a_batch("pendulum_2");
    prepare("tests/apps/c_api/pile.json");
    failing_batches("tests/apps/c_api/pile.json", 1);
    failing_batches("tests/apps/c_api/pile.json", 2);
    single_calls("tests/apps/c_api/pile.json");
    clear();
    return failures ? 1 : 0;
}
