/* C API of costate: simulation of articulated rigid bodies with contact, and its exact derivatives.
 *
 * Status. Every function returns an int: 0 or a count on success, a negative costate_status on failure. After
 * a failure, costate_last_error() gives the reason in one sentence, and the outputs are unchanged. No
 * function prints, exits or throws.
 *
 * Handles. A model holds the contents of a file, including parameters. Several threads may use it at once;
 * each call sees one consistent set of parameters. Calls in progress while the model is freed still finish;
 * later calls return COSTATE_BAD_HANDLE. A batch does not need its model to stay alive. Calls on one batch
 * are serialized.
 *
 * Buffers are owned by the caller: contiguous doubles, matrices row by row, with sizes in brackets after each
 * argument. A pointer may be null if its size is 0. Inputs must be finite. Outputs must not overlap each
 * other, but an output may be the buffer of an input. Units are SI.
 *
 * nq: numbers of a configuration q, including quaternions (w x y z), which need not have length 1
 * nv: numbers of a velocity v, of joint forces, and of a tangent vector
 * nu: controls, one per actuator
 * na: activations, the states of actuators with "dynamics", costate_model_count(model, COSTATE_ACTIVATION) of
 *     them, in the order of COSTATE_ACTIVATION
 * nx: numbers of a whole state x = (q, v, activations, kept), the states of batches: q at 0, v at nq, activations
 *     at nq + nv, kept at nq + nv + na. kept is empty unless the file sets "warm_start"; then it has keys that
 *     identify contacts, and the impulses of the last step, from which the solver starts. Zeros mean no kept
 *     impulses.
 * ndx = nx - nq + nv: numbers of a tangent vector of x: (nv) for q at 0, then one for each number of x after q:
 *     v at nv, activations at 2 nv, kept at 2 nv + na. The entries of keys are 0 in outputs and ignored in inputs.
 * ny: numbers y of all sensors of the file, one sensor after the other
 * nbody: bodies, costate_model_count(model, COSTATE_BODY)
 * nparam: parameters theta (masses, lengths, friction, ...), each with a name
 *
 * A free joint has q = (position, quaternion) and v = (velocity of the origin in world axes, angular velocity
 * in body axes). A spherical joint has a quaternion and the angular velocity in body axes. Every other dof
 * has one number in q and in v, in rad or m.
 *
 * Derivatives are in the tangent space. A change of a configuration is a vector d (nv), applied by
 * costate_retract(q, d), which rotates a quaternion by the rotation vector d in body axes; a gradient with
 * respect to q is the covector (nv) of d. This holds for all inputs and outputs: da_dq is (nv x nv), the
 * Jacobian of a step (2 nv x 2 nv). Optimizers and automatic-differentiation frameworks that differentiate
 * with respect to the nq numbers themselves have ambient gradients (nq). For these, a function f of q means
 * f(q/|q|), quaternion by quaternion, so the ambient gradient has no component along a quaternion.
 * costate_gradient_to_ambient and costate_gradient_to_tangent convert between both. Gradients with respect to
 * v, u and theta are the same in both.
 */
#ifndef COSTATE_H
#define COSTATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define COSTATE_API
#else
#define COSTATE_API __attribute__((visibility("default")))
#endif

/* The version of this header: 10000 major + 100 minor + patch. */
#define COSTATE_VERSION 100

enum costate_status {
    COSTATE_OK = 0,
    COSTATE_BAD_ARGUMENT =
        -1, /* null, a wrong size, an index out of range, a number that is not finite or not allowed */
    COSTATE_BAD_HANDLE = -2, /* freed, or not a handle */
    COSTATE_BAD_FILE = -3,   /* missing or invalid; the sentence names file, place and remedy */
    COSTATE_DIVERGED = -4,   /* a result is not finite */
    COSTATE_NO_MEMORY = -5,
    COSTATE_BAD_VERSION = -6, /* header and library are incompatible */
    COSTATE_INTERNAL = -7,    /* a fault of the library */
    COSTATE_INTERRUPTED = -8  /* ended by a costate_interrupt of the caller */
};

/* The name of a status, for example "COSTATE_DIVERGED"; "COSTATE_OK" for 0 and counts. */
COSTATE_API const char* costate_status_name(int status);

/* Kinds of named things. */
enum costate_kind {
    COSTATE_BODY = 0,
    COSTATE_JOINT = 1, /* joint i carries body i, so their counts agree; fixed joints have no dofs */
    COSTATE_ACTUATOR = 2,
    COSTATE_PARAMETER =
        3, /* one for each number of theta, for example "bodies/ball/mass" or "bodies/ball/com[2]" */
    COSTATE_WARNING = 4,   /* warnings about unsupported elements of the file and about the start */
    COSTATE_SITE = 5,      /* named frames on bodies */
    COSTATE_KEYFRAME = 6,  /* named states of the file, for example "robot/home" */
    COSTATE_VARIABLE = 7,  /* the variables of a scene, for example "controls/arm/torque1[3]" */
    COSTATE_SENSOR = 8,    /* outputs of the file, for example "robot/imu_gyro" */
    COSTATE_ACTIVATION = 9 /* activations, in their order in a state, each with the name of its actuator */
};

/* A function of the caller that is asked during a long call, by the calling thread, at most every 20 ms; unless
 * it returns 0, the call ends with COSTATE_INTERRUPTED. `data` is passed to it. */
typedef struct costate_interrupt {
    int (*ask)(void* data);
    void* data;
} costate_interrupt;

/* A function of the caller that is told how far a long call is, by the calling thread, at most every 20 ms,
 * and once at the end. Unless it returns 0, the call ends. It must not call what it is told of. `data` is
 * passed to it. */
typedef struct costate_progress {
    int (*report)(void* data, uint64_t done, uint64_t total);
    void* data;
} costate_progress;

typedef struct costate_model costate_model; /* opaque; never an address to be followed */
typedef struct costate_batch costate_batch;
typedef struct costate_controller costate_controller;

/* The sentence of the last failed call in this thread; empty if no call has failed. It is valid until the
 * next failure. */
COSTATE_API const char* costate_last_error(void);

/* costate_version(COSTATE_VERSION) returns the version of the library, or COSTATE_BAD_VERSION if the library
 * is incompatible with this header: another major or minor number, or an older patch. */
COSTATE_API int costate_version(int header);

/* ---- Models ---- */

/* Loads a scene in JSON, a URDF, MJCF or SDFormat file, or an included scene by name (also looked up in
 * $COSTATE_SCENES). A URDF or JSON model by itself is placed above level ground; an MJCF file is taken as it is.
 * If memory runs out while a file is read, the program may terminate, because the JSON library allocates memory
 * when it frees values. */
COSTATE_API int costate_model_load(const char* path, costate_model** model);
COSTATE_API int costate_model_free(costate_model* model); /* null is allowed */
/* A copy with parameters of its own, at first those that the model has; it shares the contents of the file. */
COSTATE_API int costate_model_copy(const costate_model* model, costate_model** copy);

/* How a robot is read; zeros mean the defaults. Later versions may add fields at the end. */
typedef struct costate_load_options {
    size_t size;               /* sizeof(costate_load_options) */
    const char* base;          /* of such a robot: "fixed" or "floating"; null: as the file says */
    const char* const* search; /* (n_search) folders to search for meshes and packages */
    size_t n_search;
    int strict;         /* 1: unsupported elements of these files are errors, not warnings */
    int self_collision; /* 1: links of a URDF or SDFormat model collide, except a link and its parent */
    int hull_vertices;  /* largest number of vertices of the hull of a mesh, 4 or more; 0: no limit */
    const char* law;    /* of contact: "rigid" or "mujoco"; null: as the scene says */
    int decompose; /* largest number of convex hulls of a mesh that is not convex; 0 or 1: its own hull */
} costate_load_options;

/* costate_model_load with options, which may be null. */
COSTATE_API int costate_model_load_with(const char* path, const costate_load_options* options,
                                        costate_model** model);
/* The same from a text in memory (n bytes). format: "json", "urdf", "mjcf" or "sdf"; null: as the text begins.
 * name: the path that stands for the text in messages; relative paths in the text start in its folder, and a
 * robot without a name is called as it; null: "text". */
COSTATE_API int costate_model_parse(const char* text, size_t n, const char* format, const char* name,
                                    const costate_load_options* options, costate_model** model);

COSTATE_API int costate_model_nq(const costate_model* model);
COSTATE_API int costate_model_nv(const costate_model* model);
COSTATE_API int costate_model_nu(const costate_model* model);
COSTATE_API int costate_model_nx(const costate_model* model);
COSTATE_API int costate_model_ny(const costate_model* model);
COSTATE_API int costate_model_nparam(const costate_model* model);
/* The number of things of an enum costate_kind. */
COSTATE_API int costate_model_count(const costate_model* model, int kind);

/* Copies a name with its terminating 0 and returns its length without the 0. `size` is the size of the
 * buffer; null and 0 only return the length. */
COSTATE_API int costate_model_name(const costate_model* model, int kind, int index, char* buffer,
                                   size_t size);

/* The numbers of joint `joint`: layout[4] = {first in q, count in q, first in v, count in v}. */
COSTATE_API int costate_model_joint(const costate_model* model, int joint, int* layout);

/* The numbers of sensor `sensor`: layout[2] = {first in y, count}. Copies its type, for example "gyro", and
 * returns its length, as costate_model_name does for names. */
COSTATE_API int costate_model_sensor(const costate_model* model, int sensor, int* layout, char* type,
                                     size_t size);

/* theta (n), n = nparam. Changed values must be in range: masses nonnegative, time steps positive, lower ends
 * below upper ends, and every joint must move some inertia. */
COSTATE_API int costate_model_get_parameters(const costate_model* model, double* theta, size_t n);
COSTATE_API int costate_model_set_parameters(costate_model* model, const double* theta, size_t n);

/* The initial state of the file: q (nq), v (nv). costate_batch_reset and costate_batch_state give whole states, with
 * activations, of the file and of keyframes. */
COSTATE_API int costate_model_initial_state(const costate_model* model, double* q, double* v);
/* The state q (nq), v (nv) and the control u (nu) of a keyframe; each may be null. Joints that it does not
 * name are in the initial state of the file, controls that it does not name are 0. */
COSTATE_API int costate_model_keyframe(const costate_model* model, int keyframe, double* q, double* v,
                                       double* u);

/* The body that carries something, as an index of bodies, -1 for the world: of a COSTATE_BODY or a
 * COSTATE_JOINT its parent, of a COSTATE_SITE its body. */
COSTATE_API int costate_model_parent(const costate_model* model, int kind, int index, int* parent);

/* The limits that the parameters now give, infinite where there are none. Of a COSTATE_ACTUATOR: limits[4] =
 * {least control, greatest control, least force, greatest force}, forces before the gear. Of a
 * COSTATE_JOINT: limits[2], of its position, rad or m, or of the angle of a spherical joint. */
COSTATE_API int costate_model_limits(const costate_model* model, int kind, int index, double* limits);

/* The time step h (1), s. */
COSTATE_API int costate_model_time_step(const costate_model* model, double* h);

/* ---- Configurations ---- */

/* q_next (nq) is q (nq) displaced by d (nv). */
COSTATE_API int costate_retract(const costate_model* model, const double* q, const double* d, double* q_next);
/* The shortest d (nv) with retract(a, d) = b. */
COSTATE_API int costate_difference(const costate_model* model, const double* a, const double* b, double* d);

/* Gradients at q (nq) of a function f(q/|q|): tangent (nv) from ambient (nq) and back. Components of the
 * ambient gradient along quaternions are discarded. */
COSTATE_API int costate_gradient_to_tangent(const costate_model* model, const double* q,
                                            const double* ambient, double* tangent);
COSTATE_API int costate_gradient_to_ambient(const costate_model* model, const double* q,
                                            const double* tangent, double* ambient);

/* Pose of body `body` in the world: position[3], m, and quaternion[4] (w x y z, w >= 0). */
COSTATE_API int costate_body_pose(const costate_model* model, const double* q, int body, double* position,
                                  double* quaternion);

/* ---- Dynamics without contact, springs, damping and actuators ----
 *
 * M(q) a + c(q, v) = tau, where c includes gravity and M includes armature; all vectors (nv) */

COSTATE_API int costate_forward_dynamics(const costate_model* model, const double* q, const double* v,
                                         const double* tau, double* a);
COSTATE_API int costate_inverse_dynamics(const costate_model* model, const double* q, const double* v,
                                         const double* a, double* tau);
COSTATE_API int costate_mass_matrix(const costate_model* model, const double* q, double* M); /* (nv x nv) */
/* Derivatives of the acceleration, each (nv x nv); row i belongs to a_i. Outputs may be null. */
COSTATE_API int costate_forward_dynamics_derivatives(const costate_model* model, const double* q,
                                                     const double* v, const double* tau, double* da_dq,
                                                     double* da_dv, double* da_dtau);

/* ---- A time step with everything the file describes ----
 *
 * (q, v, u, theta) -> (q_next, v_next);  q (nq), v (nv), u (nu)
 *
 * These functions neither use nor keep impulses of a warm start. For models with a warm start, use the
 * functions on whole states (costate_state_step) to continue from the last step. */

COSTATE_API int costate_step(const costate_model* model, const double* q, const double* v, const double* u,
                             double* q_next, double* v_next);

/* Reverse mode: pulls the gradient of a function of (q_next, v_next) back through the step. In: q_next_bar,
 * v_next_bar (nv). Out, overwritten: q_bar, v_bar (nv), u_bar (nu), theta_bar (nparam); each may be null. */
COSTATE_API int costate_step_vjp(const costate_model* model, const double* q, const double* v,
                                 const double* u, const double* q_next_bar, const double* v_next_bar,
                                 double* q_bar, double* v_bar, double* u_bar, double* theta_bar);

/* Forward mode: the derivative of (q_next, v_next) along q_dot, v_dot (nv), u_dot (nu), theta_dot (nparam);
 * null means zeros. Out: q_next_dot, v_next_dot (nv). */
COSTATE_API int costate_step_jvp(const costate_model* model, const double* q, const double* v,
                                 const double* u, const double* q_dot, const double* v_dot,
                                 const double* u_dot, const double* theta_dot, double* q_next_dot,
                                 double* v_next_dot);

/* The Jacobian, with rows (q_next, v_next): by_x (2 nv x 2 nv) with columns (q, v), by_u (2 nv x nu),
 * by_theta (2 nv x nparam). Outputs may be null. */
COSTATE_API int costate_step_jacobian(const costate_model* model, const double* q, const double* v,
                                      const double* u, double* by_x, double* by_u, double* by_theta);

/* The same for whole states: (x, u, theta) -> x_next; x (nx), u (nu), covectors and directions of x (ndx).
 * Activations, and the impulses that a warm start keeps, are part of the states and of the derivatives. Without
 * both, the results equal those of the functions above bit by bit. A model with activations has these functions
 * alone: those above fail, because (q, v) is not its state. */
COSTATE_API int costate_state_step(const costate_model* model, const double* x, const double* u,
                                   double* x_next);
COSTATE_API int costate_state_step_vjp(const costate_model* model, const double* x, const double* u,
                                       const double* x_next_bar, double* x_bar, double* u_bar,
                                       double* theta_bar);
COSTATE_API int costate_state_step_jvp(const costate_model* model, const double* x, const double* u,
                                       const double* x_dot, const double* u_dot, const double* theta_dot,
                                       double* x_next_dot);
/* by_x (ndx x ndx), by_u (ndx x nu), by_theta (ndx x nparam) */
COSTATE_API int costate_state_step_jacobian(const costate_model* model, const double* x, const double* u,
                                            double* by_x, double* by_u, double* by_theta);

/* Accuracy of the solver of contacts, limits and loops at the end of the step from x (nx): residual, m/s, is
 * the largest velocity error of a constraint row; may be null. Returns 1 if the solver has not converged,
 * otherwise 0. "pgs" counts as converged at about 1e-11 of the velocities, which "gradient": "implicit"
 * requires. If its sweeps have not converged, step and gradient are those of the sweeps, whatever "gradient"
 * is. */
COSTATE_API int costate_state_residual(const costate_model* model, const double* x, const double* u,
                                       double* residual);

/* ---- A time step with external wrenches and sensors ----
 *
 * (x, u, wrenches, theta) -> (x_next, y);  x, x_next (nx), u (nu), y (ny), covectors and directions of x (ndx)
 *
 * wrenches (nbody x 6): the external force at the centre of mass of each body, N, then a torque, N m, both in
 * world axes; null: none. Sensors read the state x and the control u; accelerations are (v_next - v)/h, and
 * forces are those of the step. Their types, frames and units are in scenes/README.md. "pushes" of a scene do
 * not act here: they belong to its own rollout.
 *
 * A pointer may be null: outputs that are not wanted; u, if neither the step nor a sensor needs it; covectors and
 * directions, which then are zeros. If x_next, or its covector or derivative, is null and no sensor depends on
 * the step, no step is made. */
COSTATE_API int costate_observe(const costate_model* model, const double* x, const double* u,
                                const double* wrenches, double* x_next, double* y);
/* Reverse mode, from x_next_bar (ndx) and y_bar (ny). Out, overwritten: x_bar (ndx), u_bar (nu), wrenches_bar
 * (nbody x 6), theta_bar (nparam), which includes the positions "sites/NAME/position" and rotation vectors
 * "sites/NAME/rotation" of sensors. */
COSTATE_API int costate_observe_vjp(const costate_model* model, const double* x, const double* u,
                                    const double* wrenches, const double* x_next_bar, const double* y_bar,
                                    double* x_bar, double* u_bar, double* wrenches_bar, double* theta_bar);
/* Forward mode along x_dot (ndx), u_dot (nu), wrenches_dot (nbody x 6), theta_dot (nparam). Out: x_next_dot
 * (ndx), y_dot (ny). */
COSTATE_API int costate_observe_jvp(const costate_model* model, const double* x, const double* u,
                                    const double* wrenches, const double* x_dot, const double* u_dot,
                                    const double* wrenches_dot, const double* theta_dot, double* x_next_dot,
                                    double* y_dot);
/* The Jacobian of the sensors: by_x (ny x ndx), by_u (ny x nu), by_theta (ny x nparam); C and D of the
 * linearized system, of which costate_state_step_jacobian has A and B. */
COSTATE_API int costate_observe_jacobian(const costate_model* model, const double* x, const double* u,
                                         double* by_x, double* by_u, double* by_theta);

typedef struct costate_contact {
    int body_a, body_b; /* -1: the world */
    double point[3];    /* m, world */
    double normal[3];   /* unit, from b to a, world */
    double gap;         /* m, negative if they overlap */
    double impulse[3];  /* impulse of the step on a, N s, world */
} costate_contact;

/* The contacts of the step from (q, v, u) without kept impulses, in a deterministic order. Returns their
 * number and writes the first `capacity` of them; a null buffer with capacity 0 only counts. For models with
 * activations use costate_batch_contacts. */
COSTATE_API int costate_contacts(const costate_model* model, const double* q, const double* v,
                                 const double* u, costate_contact* contacts, size_t capacity);

/* ---- Batches: many environments of one model, stepped together ----
 *
 * A control step is `substeps` time steps with the same control. The first index of arrays is the
 * environment, or the control step and then the environment: u (n_env x nu) for a step, (n_steps x n_env x
 * nu) for a rollout. All outputs have the same bits for any number of threads, any division into batches, and
 * as results of single calls of costate_state_step and costate_state_step_vjp.
 *
 * An environment diverges if a state would not be finite. It then stays in the state at the beginning of that
 * control step, and no gradient passes through the step; other environments are not affected. Some functions
 * return the number of diverged environments; 0 means that none has diverged.
 *
 * A batch has its own states, which costate_batch_reset sets. Step, rollout and poses use them if `x` is
 * null. If x is given, the own states do not change, so one batch can serve any number of states.
 *
 * A call that returns COSTATE_NO_MEMORY or COSTATE_INTERRUPTED may have written part of its outputs; the
 * batch's own states are unchanged.
 *
 * Threads do not survive fork(). In the child process, calls on a batch with several threads return
 * COSTATE_BAD_HANDLE; it may be freed, and batches created in the child work. Batches of one thread work in
 * both processes. */

typedef struct costate_batch_options {
    int n_env;
    int n_threads;      /* working threads, the calling one included; 0: one per core */
    int substeps;       /* time steps per control step; 0 counts as 1 */
    int own_parameters; /* 1: each environment may have its own parameters, for domain randomization */
    int ambient; /* 1: gradients of states (nx) and of poses (7) are ambient, for f(q/|q|); 0: tangent (ndx),
                    (6) */
    size_t checkpoint_bytes; /* memory of all threads for the states between time steps of a control step; 0:
                                enough for all. Less memory takes more time and gives the same bits */
} costate_batch_options;

/* The memory of a batch: states, parameters, gradients and checkpoints. Not included are the workspaces, one
 * per thread, which belong to the model and grow with the number of contacts. */
COSTATE_API int costate_batch_bytes(const costate_model* model, const costate_batch_options* options,
                                    size_t* bytes);
/* All environments start in the initial state of the file, with the model's parameters. */
COSTATE_API int costate_batch_create(const costate_model* model, const costate_batch_options* options,
                                     costate_batch** batch);
COSTATE_API int costate_batch_free(costate_batch* batch); /* null is allowed */

/* theta: nparam numbers for all environments, or n_env x nparam if own_parameters is 1; checked as by
 * costate_model_set_parameters. Null and 0: the parameters of the model at the time of each call. Applies to
 * all later calls. */
COSTATE_API int costate_batch_set_parameters(costate_batch* batch, const double* theta, size_t n);

/* `interrupt` is asked during calls on the batch, between control steps; such a call ends within a control
 * step of each thread. It must not call the batch. It is copied; null: nothing is asked. */
COSTATE_API int costate_batch_set_interrupt(costate_batch* batch, const costate_interrupt* interrupt);
/* `progress` is told how many control steps of single environments are done, during costate_batch_rollout, _run,
 * _backward, _run_vjp, _jvp, _hvp and _jacobian; reverses count what is pulled back. A call that it ends returns
 * COSTATE_INTERRUPTED. It is copied; null: nothing is told. */
COSTATE_API int costate_batch_set_progress(costate_batch* batch, const costate_progress* progress);

/* Resets the environments `envs` (n, each at most once; null: all n_env): to x (nx for all of them, or n x nx)
 * if given, otherwise to the keyframe, otherwise to the initial state of the file; without x, there are no
 * kept impulses. noise (ndx) and seeds (n) are both given or both null: the state is displaced by a tangent
 * vector whose entry i is noise[i] times a number in [-1, 1] that depends only on the environment's seed. */
COSTATE_API int costate_batch_reset(costate_batch* batch, const int* envs, size_t n, const char* keyframe,
                                    const double* x, size_t x_size, const double* noise,
                                    const uint64_t* seeds);

/* The batch's own states x (n_env x nx), and status (n_env): COSTATE_OK, or COSTATE_DIVERGED if the
 * environment has diverged since its last reset. Either may be null. Returns the number of diverged
 * environments. */
COSTATE_API int costate_batch_state(costate_batch* batch, double* x, int* status);

/* One control step: from x (n_env x nx) and u (n_env x nu) to x_next (n_env x nx). If x is null, the batch's
 * own states advance, except diverged ones; then x_next may be null. status (n_env) as above, or null.
 * Returns the number of diverged environments. */
COSTATE_API int costate_batch_step(costate_batch* batch, const double* x, const double* u, double* x_next,
                                   int* status);

/* n_steps control steps: from x (n_env x nx) and u (n_steps x n_env x nu) to states (n_steps x n_env x nx),
 * those after each step. completed (n_env), or null: number of steps before the environment diverged, n_steps
 * if it did not. Returns the number of diverged environments. */
COSTATE_API int costate_batch_rollout(costate_batch* batch, int n_steps, const double* x, const double* u,
                                      double* states, int* completed);

/* Accuracy of the solver in the time steps of the last costate_batch_step or costate_batch_rollout, as
 * defined by costate_state_residual: residual (n_env), the largest, m/s; unconverged (n_env), the number of
 * time steps without convergence. Either may be null. Returns the number of environments with such steps. */
COSTATE_API int costate_batch_residuals(costate_batch* batch, double* residual, int* unconverged);

/* Reverse mode of a rollout (of a step with n_steps = 1): pulls back the gradient of a function of all
 * states.
 *
 * In: x (n_steps x n_env x nx), the states before each control step, i.e. the states before the rollout and
 * all but the last states of the rollout; u as in the rollout; completed (n_env) from the rollout, or null if
 * all steps were completed; states_bar (n_steps x n_env x ndx), gradients of the states after each step.
 * Gradients of steps that were not completed are ignored.
 *
 * Out, overwritten, each may be null: x_bar (n_env x ndx), of the states before the rollout; u_bar (n_steps x
 * n_env x nu); theta_bar, of parameters: nparam numbers, summed over environments in their order, or n_env x
 * nparam, one row per environment; theta_size selects which. Contributions of time steps are summed from last
 * to first within a control step, then over control steps. An environment that diverges, or whose gradient
 * would not be finite, has zero gradients. Returns the number of such environments. */
COSTATE_API int costate_batch_backward(costate_batch* batch, int n_steps, const double* x, const double* u,
                                       const int* completed, const double* states_bar, double* x_bar,
                                       double* u_bar, double* theta_bar, size_t theta_size);

/* The Jacobian of a control step from x (n_env x nx; null: the batch's own states) under u (n_env x nu), with
 * rows x_next, in tangent vectors, also if the batch is ambient: by_x (n_env x ndx x ndx), by_u (n_env x ndx
 * x nu), by_theta (n_env x ndx x nparam); each may be null. It does not advance the states. which (n_env),
 * or null for all: environments whose entry is 0 are left out, and their outputs unchanged. status (n_env) or
 * null. An environment that diverges has zeros. Returns the number of diverged environments. */
COSTATE_API int costate_batch_jacobian(costate_batch* batch, const double* x, const double* u,
                                       const unsigned char* which, double* by_x, double* by_u,
                                       double* by_theta, int* status);

/* The same for chosen columns alone. columns: masks, with 0 for columns that are left out, which stay
 * unchanged in the outputs; null masks: all. Where the Jacobian of a time step has a closed form (most
 * scenes; not with a warm start), columns by x in the first time step of a control step, and those by u, are
 * computed only if they are chosen. */
typedef struct costate_columns {
    size_t size;                /* sizeof(costate_columns) */
    const unsigned char* x;     /* (ndx) */
    const unsigned char* u;     /* (nu) */
    const unsigned char* theta; /* (nparam) */
} costate_columns;
COSTATE_API int costate_batch_jacobian_with(costate_batch* batch, const double* x, const double* u,
                                            const unsigned char* which, const costate_columns* columns,
                                            double* by_x, double* by_u, double* by_theta, int* status);

/* The contacts of the first time step of a control step from x (n_env x nx; null: the batch's own states)
 * under u (n_env x nu), as costate_contacts has them; kept impulses of the states count. It does not advance
 * the states. contacts (n_env x capacity): the first `capacity` of each environment; a null buffer with
 * capacity 0 only counts. couples (n_env x capacity x 3), or null: those of torsional and rolling friction
 * on a, N m s, world. counts (n_env): the number of contacts, or COSTATE_DIVERGED. Returns the largest
 * number. */
COSTATE_API int costate_batch_contacts(costate_batch* batch, const double* x, const double* u,
                                       costate_contact* contacts, double* couples, size_t capacity,
                                       int* counts);

/* The sensors of states x (n_env x nx; null: the batch's own) under u (n_env x nu) and wrenches (n_env x nbody x
 * 6; null: none), in the first time step of a control step: y (n_env x ny). It does not advance the states. status
 * (n_env) or null. An environment that diverges in this time step has zeros. Returns the number of these. */
COSTATE_API int costate_batch_sensors(costate_batch* batch, const double* x, const double* u,
                                      const double* wrenches, double* y, int* status);
/* Reverse mode of costate_batch_sensors, from y_bar (n_env x ny). Out, overwritten, each may be null: x_bar, as
 * in costate_batch_backward; u_bar (n_env x nu); wrenches_bar (n_env x nbody x 6); theta_bar as there. */
COSTATE_API int costate_batch_sensors_vjp(costate_batch* batch, const double* x, const double* u,
                                          const double* wrenches, const double* y_bar, double* x_bar,
                                          double* u_bar, double* wrenches_bar, double* theta_bar,
                                          size_t theta_size);
/* The Jacobians of the sensors, like costate_batch_jacobian: by_x (n_env x ny x ndx), by_u (n_env x ny x nu),
 * by_theta (n_env x ny x nparam). With A and B of that function they are C and D of the linearized system. */
COSTATE_API int costate_batch_sensors_jacobian(costate_batch* batch, const double* x, const double* u,
                                               const unsigned char* which, double* by_x, double* by_u,
                                               double* by_theta, int* status);

/* A rollout: what it reads and writes. Zeros and null pointers mean the default. Later versions may add fields at
 * the end. */
typedef struct costate_run {
    size_t size;            /* sizeof(costate_run) */
    int n_steps;            /* control steps */
    const double* x;        /* (n_env x nx); null: the batch's own states, which advance */
    const double* u;        /* (n_steps x n_env x nu) */
    const double* wrenches; /* (n_steps x n_env x nbody x 6), held for a control step; null: none */
    double* states;         /* out (n_steps x n_env x nx), after each control step; null: not wanted */
    double* y;      /* out (n_steps x n_env x ny), sensors at the beginning of each control step, in its first
                               time step; null: not wanted */
    int* completed; /* out (n_env), as in costate_batch_rollout; null: not wanted */
} costate_run;

/* costate_batch_rollout with external wrenches and sensors; states have the same bits. */
COSTATE_API int costate_batch_run(costate_batch* batch, const costate_run* run);

/* The gradient of a function of the states and sensors of a run. Later versions may add fields at the end. */
typedef struct costate_run_gradient {
    size_t size; /* sizeof(costate_run_gradient) */
    size_t
        max_bytes; /* of the states of all environments that are stored; 0: those before each control step */
    const double* states_bar; /* (n_steps x n_env x ndx) of the states after each control step; null: zeros */
    const double* y_bar;      /* (n_steps x n_env x ny) of the sensors; null: zeros */
    /* If not null, asked instead for t = n_steps - 1, ..., 0, by the calling thread: states (n_env x nx) after
     * control step t and y (n_env x ny) at its beginning; it adds the gradients by both to states_bar (n_env x
     * ndx) and y_bar (n_env x ny), which are zero. Unless it returns 0, the call ends with
     * COSTATE_INTERRUPTED. `data` is passed to it. It must not call the batch. */
    int (*seed)(void* data, int t, const double* states, const double* y, double* states_bar, double* y_bar);
    void* data;
    double* x_bar;        /* out (n_env x ndx), of the first states */
    double* u_bar;        /* out (n_steps x n_env x nu) */
    double* wrenches_bar; /* out (n_steps x n_env x nbody x 6) */
    double* theta_bar;    /* out (theta_size) as in costate_batch_backward */
    size_t theta_size;
} costate_run_gradient;

/* Reverse mode of costate_batch_run. run->states and run->y are not written, and the states of the batch do not
 * change: the run is made again, from the states that fit into max_bytes. All budgets give the same bits, those of
 * costate_batch_rollout and costate_batch_backward. COSTATE_BAD_ARGUMENT if max_bytes holds no state of all
 * environments. Returns the number of environments with zero gradients, as there. */
COSTATE_API int costate_batch_run_vjp(costate_batch* batch, const costate_run* run,
                                      const costate_run_gradient* gradient);

/* Forward mode of costate_batch_run, in tangent vectors: the derivatives of states, states_dot (n_steps x n_env x
 * ndx), and of sensors, y_dot (n_steps x n_env x ny), each may be null, along x_dot (n_env x ndx), u_dot (n_steps x
 * n_env x nu) and theta_dot (nparam, the same for all environments); null means zeros. An environment that diverges
 * has zeros from there on. Returns the number of these. */
COSTATE_API int costate_batch_jvp(costate_batch* batch, const costate_run* run, const double* x_dot,
                                  const double* u_dot, const double* theta_dot, double* states_dot,
                                  double* y_dot);

/* Hessian-vector products of a run, in tangent vectors: the derivative along (x_dot, u_dot, theta_dot), as above,
 * of the gradients that costate_batch_backward returns for states_bar (n_steps x n_env x ndx), whose own
 * derivative along the direction is states_bar_dot (null: 0). Out, each may be null: x_bar_dot (n_env x ndx), of
 * the gradient by a tangent at x, evaluated at 0; u_bar_dot (n_steps x n_env x nu); theta_bar_dot as theta_bar.
 * Each thread stores the states of all time steps of one environment, twice. */
COSTATE_API int costate_batch_hvp(costate_batch* batch, const costate_run* run, const double* x_dot,
                                  const double* u_dot, const double* theta_dot, const double* states_bar,
                                  const double* states_bar_dot, double* x_bar_dot, double* u_bar_dot,
                                  double* theta_bar_dot, size_t theta_size);

/* Poses and velocities of frames in states x (n_env x nx). frames (n) are indices of bodies, from 0, or of
 * sites, from the number of bodies on. poses (n_env x n x 7): origin, m, world axes, and quaternion (w >= 0).
 * velocities (n_env x n x 6): of the origin, m/s, and angular, rad/s, world axes. Either may be null. */
COSTATE_API int costate_batch_poses(costate_batch* batch, const double* x, const int* frames, size_t n,
                                    double* poses, double* velocities);
/* Reverse mode of costate_batch_poses: from poses_bar (n_env x n x 6: origin, rotation in axes of the frame)
 * and velocities_bar (n_env x n x 6), null for zeros, to x_bar and theta_bar as above. */
COSTATE_API int costate_batch_poses_vjp(costate_batch* batch, const double* x, const int* frames, size_t n,
                                        const double* poses_bar, const double* velocities_bar, double* x_bar,
                                        double* theta_bar, size_t theta_size);

/* ---- Scenes: the objective of a file, as a function of its variables ----
 *
 * A scene is a model whose file has controls and an objective. Its rollout has a number of time steps, and
 * its variables y (n) are what the file marks with "optimize": controls, at knots or at every step, then
 * parameters, or their logarithms, then entries of the tangent of the initial state. All else has the values
 * of the file, and of costate_model_set_parameters. Calls are independent of each other: several threads may
 * evaluate the same scene.
 *
 * The loss of a file with a "batch" is the mean over its random environments, on all cores, with the same bits on any
 * number of them. Rollouts and feedback laws are those of the one rollout without randomness. */

/* Time steps of the rollout; 1000 if the file has none. */
COSTATE_API int costate_scene_steps(const costate_model* model);
/* The variables of the file y (n), and their bounds lower, upper (n), which may be infinite; each may be null.
 * Returns n. COSTATE_VARIABLE has their names. */
COSTATE_API int costate_scene_variables(const costate_model* model, double* y, double* lower, double* upper);
/* The loss (1) at y (n) and its gradient (n); each may be null, and without gradient nothing is pulled back.
 * interrupt may be null; it is asked between time steps, with a "batch" between groups of environments. */
COSTATE_API int costate_scene_gradient(const costate_model* model, const double* y, double* loss,
                                       double* gradient, const costate_interrupt* interrupt);

/* A cost of the caller's own, any function of all states (steps + 1 x nx) and controls (steps x nu) of a rollout.
 * Writes its value (1). Unless they are null, it adds its gradients to states_bar (steps + 1 x ndx, tangent) and
 * controls_bar (steps x nu), which are zero; the states are then those of the call before. Unless it returns 0, the
 * call that asks it ends with COSTATE_INTERRUPTED. `data` is passed to it. */
typedef struct costate_cost {
    int (*evaluate)(void* data, const double* states, const double* controls, double* value,
                    double* states_bar, double* controls_bar);
    void* data;
} costate_cost;

/* costate_scene_gradient of the objective of the file plus a cost (null: none). COSTATE_DIVERGED if the cost or its
 * gradient is not finite; COSTATE_BAD_ARGUMENT if the file has a "batch". */
COSTATE_API int costate_scene_gradient_with(const costate_model* model, const costate_cost* cost,
                                            const double* y, double* loss, double* gradient,
                                            const costate_interrupt* interrupt);
/* The rollout at y (n): states (steps + 1 x nx), controls (steps x nu) or null. */
COSTATE_API int costate_scene_rollout(const costate_model* model, const double* y, double* states,
                                      double* controls, const costate_interrupt* interrupt);

/* What one evaluation of a scene is to write. Later versions may add fields at the end. */
typedef struct costate_scene_run {
    size_t size;                        /* sizeof(costate_scene_run) */
    const double* y;                    /* (n) */
    double* loss;                       /* out (1), that of costate_scene_gradient_with; null: not wanted */
    double* gradient;                   /* out (n); null: nothing is pulled back */
    double* states;                     /* out (steps + 1 x nx) of costate_scene_rollout; null: not wanted */
    double* controls;                   /* out (steps x nu); null: not wanted */
    const costate_cost* cost;           /* null: none */
    const costate_interrupt* interrupt; /* may be null */
    /* told how many time steps are done, forward and backward, of all environments; may be null. If it ends the
     * call, that returns COSTATE_INTERRUPTED */
    const costate_progress* progress;
} costate_scene_run;

/* costate_scene_gradient_with and costate_scene_rollout in one call, which runs forward once, and once more for states
 * and controls beside a cost or a "batch". */
COSTATE_API int costate_scene_evaluate(const costate_model* model, const costate_scene_run* run);

/* Zeros mean what the file says under "optimize". Later versions may add fields at the end. */
typedef struct costate_optimize_options {
    size_t size;        /* sizeof(costate_optimize_options) */
    const char* method; /* for example "lbfgs" */
    int iterations, max_loss_evaluations;
    double learning_rate;
    double* losses; /* out: the best loss so far, at the start and after each iteration, as many as fit */
    size_t n_losses;
    const costate_interrupt* interrupt; /* asked after each iteration; may be null */
    const costate_cost* cost;           /* added to the objective of the file; null: none. Only for "lbfgs",
                                 "gradient_descent", "momentum" and "adam", which ask for the gradient alone */
    /* told of iterations, after `losses` are written; may be null. A run that it ends has the best variables so far,
     * and `stopped` = "interrupted" */
    const costate_progress* progress;
    /* Runs of which the best counts, each with all iterations: the first from the variables of the file, the
     * others from random ones around these, of standard deviation `sigma` of a variable's range, or 1 if it
     * has none. 0: one run. Iterations and evaluations of the result are those of the best; progress->report
     * is told the iterations of all, with the best loss so far in `losses`. Not with a cost, a "batch" or
     * "receding_horizon". */
    int restarts;
    int threads;   /* that share the runs, with the same result; 0: one for each core */
    unsigned seed; /* of the random starts */
    double sigma;
    /* out (restarts): the loss at the end of each run, infinite if it diverged or did not begin; null: not
     * wanted */
    double* restart_losses;
} costate_optimize_options;

typedef struct costate_optimize_result {
    double initial_loss, final_loss, seconds;
    int iterations, loss_evaluations, gradient_evaluations;
    char stopped[96]; /* the reason for stopping */
} costate_optimize_result;

/* Minimizes the loss, starting from the variables of the file: y (n) are the best variables found. options and
 * result may be null. With "constraints" in the file, the losses of the result are those of the objective alone, and
 * `stopped` begins with "constraints not met" if one is violated by more than its tolerance. */
COSTATE_API int costate_scene_optimize(const costate_model* model, const costate_optimize_options* options,
                                       double* y, costate_optimize_result* result);

/* The feedback law around the rollout at y (n), which must be per-step controls alone, as ilqr and multiple_shooting
 * find them: u = u_t + K_t (x - x_t), with the difference in the tangent space. Constraints have no part in it. Writes K (steps x n_free x ndx) for
 * the n_free optimized controls, in the order of the actuators, and the gradient (steps + 1 x ndx) and Hessian
 * (steps + 1 x ndx x ndx) of the cost from each state on under this law; each may be null. Returns n_free. */
COSTATE_API int costate_scene_feedback(const costate_model* model, const double* y, double* K, double* V_x,
                                       double* V_xx);

/* ---- Controllers: a scene's controls from measured states ----
 *
 * A controller plans `horizon` time steps of the scene ahead, by iLQR through contact, and keeps its plan: the next one
 * starts from it. Between plans its feedback gains act. The scene must have per-step controls alone, as for
 * costate_scene_feedback, and no warm start. The objective counts from the time of a plan on, its final terms at the
 * plan's end, and running terms also after the end of the scene's rollout; references then keep their last values, and so
 * do controls that are not optimized. Calls on one controller are serialized. */

/* horizon: time steps of a plan; 0: "horizon" of the file's "optimize". The controller has the parameters that the
 * model has at this call, and does not need the model to stay alive. Returns the horizon. */
COSTATE_API int costate_controller_create(const costate_model* model, int horizon,
                                          costate_controller** controller);
COSTATE_API int costate_controller_free(costate_controller* controller); /* null is allowed */

/* A plan: what it may cost, and its results. Later versions may add fields at the end. */
typedef struct costate_plan {
    size_t size;    /* sizeof(costate_plan) */
    int iterations; /* in: the most iterations of iLQR, 0: 1; out: those that reduced the cost */
    double
        seconds; /* in: the longest time of a plan, 0: no limit. A rollout with its derivatives is always made, and
                           no further trial starts after this time. out: the time taken */
    double cost;      /* out: of the planned steps */
    double* states;   /* out (horizon + 1 x nx); null: not wanted */
    double* controls; /* out (horizon x nu), each held for a time step; null: not wanted */
    double* gains;    /* out (horizon x n_free x ndx), as in costate_scene_feedback; null: not wanted */
} costate_plan;

/* Plans from the measured state x (nx) at a time, s, 0 or more; plan may be null. If a rollout from x diverges, the
 * previous plan stays. Returns n_free. */
COSTATE_API int costate_controller_plan(costate_controller* controller, double time, const double* x,
                                        costate_plan* plan);
/* The control u (nu) in the measured state x (nx) at a time, s, by the last plan: u = u_t + K_t (x - x_t) within the limits,
 * where x_t is interpolated between the plan's states. It takes microseconds. After the plan's end, the control, gain and
 * state of its end act. COSTATE_BAD_ARGUMENT before the first plan. */
COSTATE_API int costate_controller_control(costate_controller* controller, double time, const double* x,
                                           double* u);

#ifdef __cplusplus
}
#endif

#endif
