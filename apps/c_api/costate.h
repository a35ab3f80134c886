/* costate in C: simulation of articulated rigid bodies with contact, and its exact derivatives.
 *
 * Every function returns an int: 0 or a count when it worked, a negative costate_status when it did not, and
 * then costate_last_error() says why in one sentence. A call that fails leaves its outputs as they were.
 * Nothing prints, exits or throws.
 *
 * Handles. A model is what a file describes, its parameters included. It may be used by several threads at
 * once, each call sees one set of parameters; calls that run while the model is freed still finish, later
 * ones return COSTATE_BAD_HANDLE. A batch keeps what it needs of its model, which may be freed first; calls
 * on one batch wait for each other.
 *
 * Buffers are the caller's: contiguous doubles, matrices row by row, sizes in brackets after each argument.
 * Where a size is 0 the pointer may be null. Inputs must be finite. Outputs must not overlap each other; one
 * may be the buffer of an input. SI units throughout.
 *
 *   nq      numbers of a configuration q, quaternions (w x y z) included; they need not have length 1
 *   nv      numbers of a velocity v, of joint forces, and of a tangent vector
 *   nu      controls, one an actuator
 *   nx      numbers of a whole state x = (q, v, kept), in which batches take and give states. kept is empty
 * but for models whose file asks for "warm_start": then it has keys that name contacts, and the impulses of
 * the last step, from which the solver starts. Zeros keep nothing ndx     = nx - nq + nv, numbers of a
 * tangent vector of it: (nv) of q, then as many as the state has behind q. Keys do not move: their entries
 * are 0 in what comes out, and are not looked at in what goes in nparam  parameters theta: masses, lengths,
 * friction and so on, each with a name
 *
 * A free joint has q = (position, quaternion) and v = (velocity of the origin in world axes, angular velocity
 * in body axes); a spherical joint a quaternion and the angular velocity in body axes; each other dof one
 * number of either, rad or m.
 *
 * Derivatives live in the tangent space: a change of a configuration is a vector d (nv), the one that
 * costate_retract(q, d) applies (a quaternion is turned by the rotation vector d, body axes), and a gradient
 * by q is the covector (nv) of such a d. This holds for every derivative that goes in or comes out here:
 * da_dq is (nv x nv), the Jacobian of a step (2 nv x 2 nv). What differentiates by the nq numbers themselves
 * (an optimizer, an automatic-differentiation framework) has ambient gradients (nq). There a function f of q
 * means f(q/|q|), quaternion by quaternion, so its ambient gradient has no part along the quaternion.
 * costate_gradient_to_ambient and costate_gradient_to_tangent convert; by v, u and theta there is nothing to
 * convert.
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

/* Of this header: 10000 major + 100 minor + patch. */
#define COSTATE_VERSION 100

enum costate_status {
    COSTATE_OK = 0,
    COSTATE_BAD_ARGUMENT =
        -1, /* null, a wrong size, an index out of range, a number that is not finite or not allowed */
    COSTATE_BAD_HANDLE = -2, /* freed, or never given out */
    COSTATE_BAD_FILE = -3, /* missing, or not what it should be; the sentence names file, place and remedy */
    COSTATE_DIVERGED = -4, /* a result is not finite */
    COSTATE_NO_MEMORY = -5,
    COSTATE_BAD_VERSION = -6, /* header and library do not fit */
    COSTATE_INTERNAL = -7     /* a fault of the library */
};

/* What has names. */
enum costate_kind {
    COSTATE_BODY = 0,
    COSTATE_JOINT = 1, /* joint i carries body i, so there are as many; those that are fixed have no dofs */
    COSTATE_ACTUATOR = 2,
    COSTATE_PARAMETER =
        3, /* one for each number of theta, such as "bodies/ball/mass" or "bodies/ball/com[2]" */
    COSTATE_WARNING = 4, /* what has no counterpart, and what is odd about the start */
    COSTATE_SITE = 5,    /* points with axes that bodies carry */
    COSTATE_KEYFRAME = 6 /* states that the file gives names, as "robot/home" */
};

typedef struct costate_model costate_model; /* opaque; never an address to be followed */
typedef struct costate_batch costate_batch;

/* The sentence of the last call that failed in this thread; empty before that. It is valid until another call
 * fails. */
COSTATE_API const char* costate_last_error(void);

/* costate_version(COSTATE_VERSION) returns the library's version, or COSTATE_BAD_VERSION if a program
 * compiled with this header cannot use that library: another major or minor number, or an older patch. */
COSTATE_API int costate_version(int header);

/* ---- Models
 * ----------------------------------------------------------------------------------------------------------------------
 */

/* A scene in JSON, a URDF or MJCF file, or the name of a scene that is shipped (sought in $COSTATE_SCENES
 * too). A model alone is put above level ground. Where memory runs out while a file is read the program may
 * end: the JSON library allocates to free. */
COSTATE_API int costate_model_load(const char* path, costate_model** model);
COSTATE_API int costate_model_free(costate_model* model); /* null is allowed */

COSTATE_API int costate_model_nq(const costate_model* model);
COSTATE_API int costate_model_nv(const costate_model* model);
COSTATE_API int costate_model_nu(const costate_model* model);
COSTATE_API int costate_model_nx(const costate_model* model);
COSTATE_API int costate_model_nparam(const costate_model* model);
/* How many there are of an enum costate_kind. */
COSTATE_API int costate_model_count(const costate_model* model, int kind);

/* Copies a name with its terminating 0 and returns its length without. `size` is that of the buffer; null and
 * 0 ask for the length. */
COSTATE_API int costate_model_name(const costate_model* model, int kind, int index, char* buffer,
                                   size_t size);

/* Where joint `joint` has its numbers: layout[4] = {first of q, count in q, first of v, count in v}. */
COSTATE_API int costate_model_joint(const costate_model* model, int joint, int* layout);

/* theta (n), n = nparam. What is set anew must be in range: masses are not negative, time steps positive,
 * lower ends below upper ones, and every joint has inertia to move. */
COSTATE_API int costate_model_get_parameters(const costate_model* model, double* theta, size_t n);
COSTATE_API int costate_model_set_parameters(costate_model* model, const double* theta, size_t n);

/* Where the file starts: q (nq), v (nv). */
COSTATE_API int costate_model_initial_state(const costate_model* model, double* q, double* v);

/* ---- Configurations
 * --------------------------------------------------------------------------------------------------------------
 */

/* q_next (nq) = q (nq) moved by d (nv) */
COSTATE_API int costate_retract(const costate_model* model, const double* q, const double* d, double* q_next);
/* The shortest d (nv) for which retract(a, d) is b. */
COSTATE_API int costate_difference(const costate_model* model, const double* a, const double* b, double* d);

/* Gradients at q (nq) of a function f(q/|q|): tangent (nv) from ambient (nq) and back. A part of the ambient
 * gradient along a quaternion is left out. */
COSTATE_API int costate_gradient_to_tangent(const costate_model* model, const double* q,
                                            const double* ambient, double* tangent);
COSTATE_API int costate_gradient_to_ambient(const costate_model* model, const double* q,
                                            const double* tangent, double* ambient);

/* World coordinates of body `body`: position[3], m, and quaternion[4] (w x y z, w >= 0). */
COSTATE_API int costate_body_pose(const costate_model* model, const double* q, int body, double* position,
                                  double* quaternion);

/* ---- Dynamics without contact, springs, damping and actuators
 * -------------------------------------------------------------------- M(q) a + c(q, v) = tau,   c with
 * gravity, M with armature; all of them (nv) */

COSTATE_API int costate_forward_dynamics(const costate_model* model, const double* q, const double* v,
                                         const double* tau, double* a);
COSTATE_API int costate_inverse_dynamics(const costate_model* model, const double* q, const double* v,
                                         const double* a, double* tau);
COSTATE_API int costate_mass_matrix(const costate_model* model, const double* q, double* M); /* (nv x nv) */
/* Of the acceleration, each (nv x nv), row i that of a_i. An output that is not wanted may be null. */
COSTATE_API int costate_forward_dynamics_derivatives(const costate_model* model, const double* q,
                                                     const double* v, const double* tau, double* da_dq,
                                                     double* da_dv, double* da_dtau);

/* ---- A time step, with everything the file describes
 * ----------------------------------------------------------------------------- (q, v, u, theta) -> (q_next,
 * v_next);  q (nq), v (nv), u (nu) The solver starts from no kept impulses, and none are kept: without a warm
 * start that is all there is. With one, steps that go on from the last are those of whole states, below. */

COSTATE_API int costate_step(const costate_model* model, const double* q, const double* v, const double* u,
                             double* q_next, double* v_next);

/* Reverse: the gradient of a function of (q_next, v_next) pulled back through the step. In: q_next_bar,
 * v_next_bar (nv). Out, written and not added to: q_bar, v_bar (nv), u_bar (nu), theta_bar (nparam); one that
 * is not wanted may be null. */
COSTATE_API int costate_step_vjp(const costate_model* model, const double* q, const double* v,
                                 const double* u, const double* q_next_bar, const double* v_next_bar,
                                 double* q_bar, double* v_bar, double* u_bar, double* theta_bar);

/* Forward: the change of (q_next, v_next) along q_dot, v_dot (nv), u_dot (nu), theta_dot (nparam); null means
 * zeros. Out: q_next_dot, v_next_dot (nv). */
COSTATE_API int costate_step_jvp(const costate_model* model, const double* q, const double* v,
                                 const double* u, const double* q_dot, const double* v_dot,
                                 const double* u_dot, const double* theta_dot, double* q_next_dot,
                                 double* v_next_dot);

/* The whole matrix, rows (q_next, v_next): by_x (2 nv x 2 nv) with columns (q, v), by_u (2 nv x nu), by_theta
 * (2 nv x nparam). An output that is not wanted may be null. */
COSTATE_API int costate_step_jacobian(const costate_model* model, const double* q, const double* v,
                                      const double* u, double* by_x, double* by_u, double* by_theta);

/* The same of whole states: (x, u, theta) -> x_next; x (nx), u (nu), covectors and directions of x (ndx).
 * What a warm start keeps comes in, goes out, and has its share in derivatives. Without a warm start these
 * are the functions above, to the last bit. */
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

/* How far the solver of contacts, limits and loops is from a solution when it ends the step from x (nx):
 * residual, m/s, the largest error of a velocity that an impulse answers for; may be null. Returns 1 if it
 * has not converged, else 0. Exact solvers converge, or say that they have not; "pgs" has converged at about
 * 1e-11 of the velocities, which "gradient": "implicit" needs. Where its sweeps have not, the step is what
 * they made it, and so is the gradient: it is that of the sweeps, whatever "gradient" says. */
COSTATE_API int costate_state_residual(const costate_model* model, const double* x, const double* u,
                                       double* residual);

typedef struct costate_contact {
    int body_a, body_b; /* -1: the world */
    double point[3];    /* m, world */
    double normal[3];   /* unit, from b to a, world */
    double gap;         /* m, below 0 where they overlap */
    double impulse[3];  /* of the step, on a, N s, world */
} costate_contact;

/* The contacts of the step from (q, v, u) with no kept impulses, in an order that is always the same. Returns
 * how many there are and writes the first `capacity` of them; a null buffer with capacity 0 only counts. */
COSTATE_API int costate_contacts(const costate_model* model, const double* q, const double* v,
                                 const double* u, costate_contact* contacts, size_t capacity);

/* ---- Batches: many environments of one model, stepped together
 * -------------------------------------------------------------------
 *
 * A control step is `substeps` time steps with one control. Arrays have the environment first, or the control
 * step and then the environment: u (n_env x nu) of a step, (n_steps x n_env x nu) of a rollout. Every number
 * that comes out has the same bits for any number of threads, any division into batches, and from
 * costate_state_step and costate_state_step_vjp called one by one.
 *
 * An environment diverges when a state would not be finite. It then stays in the state in which that control
 * step began, no gradient goes through that step, and all others go on as ever. Functions that say so return
 * how many have diverged, 0 when all is well.
 *
 * A batch has states of its own, which costate_batch_reset sets. Step, rollout and poses use them where `x`
 * is null. Where x is given, they are left alone, so one batch serves any number of states.
 *
 * A call that returns COSTATE_NO_MEMORY may have written a part of its outputs; the batch's own states are as
 * before. Threads do not survive fork(): a process makes its own batches. */

typedef struct costate_batch_options {
    int n_env;
    int n_threads;      /* that work, the calling one included; 0: one a core */
    int substeps;       /* time steps a control step; 0 counts as 1 */
    int own_parameters; /* 1: room for parameters of each environment, as for domain randomisation */
    int ambient; /* 1: gradients by states are ambient (nx), by poses (7), as f(q/|q|) has them; 0: tangent
                    (ndx), (6) */
    size_t checkpoint_bytes; /* of all threads, for the states between time steps of a control step; 0: room
                                for each. Less memory takes more time and gives the same bits */
} costate_batch_options;

/* What a batch takes: states, parameters, gradients and checkpoints. Not the workspaces, one a thread: they
 * are the model's, and grow with the contacts they meet. */
COSTATE_API int costate_batch_bytes(const costate_model* model, const costate_batch_options* options,
                                    size_t* bytes);
/* All environments start where the file starts, with the model's parameters. */
COSTATE_API int costate_batch_create(const costate_model* model, const costate_batch_options* options,
                                     costate_batch** batch);
COSTATE_API int costate_batch_free(costate_batch* batch); /* null is allowed */

/* theta: nparam numbers for all environments, or n_env x nparam where there is room for them; checked as by
 * costate_model_set_parameters. Null and 0: the model's, as it has them at each call. Applies to all calls
 * after it. */
COSTATE_API int costate_batch_set_parameters(costate_batch* batch, const double* theta, size_t n);

/* Environments `envs` (n; null: all n_env) start anew: in x (nx for all of them, or n x nx), else in the
 * keyframe, else where the file starts; without x, with no kept impulses. noise (ndx) and seeds (n), or null
 * both: entry i of a tangent vector of the state is noise[i] times a number between -1 and 1 that the
 * environment's seed alone decides. */
COSTATE_API int costate_batch_reset(costate_batch* batch, const int* envs, size_t n, const char* keyframe,
                                    const double* x, size_t x_size, const double* noise,
                                    const uint64_t* seeds);

/* The batch's own states x (n_env x nx), and for each COSTATE_OK, or COSTATE_DIVERGED since its last reset;
 * status (n_env). Either may be null. Returns how many have diverged. */
COSTATE_API int costate_batch_state(costate_batch* batch, double* x, int* status);

/* One control step: from x (n_env x nx) and u (n_env x nu) to x_next (n_env x nx). Where x is null the
 * batch's own states move on, but those that have diverged; then x_next may be null. status (n_env) as above,
 * or null. Returns how many have diverged. */
COSTATE_API int costate_batch_step(costate_batch* batch, const double* x, const double* u, double* x_next,
                                   int* status);

/* n_steps control steps: from x (n_env x nx) and u (n_steps x n_env x nu) to states (n_steps x n_env x nx),
 * those after each. completed (n_env), or null: how many steps an environment made before it diverged,
 * n_steps if it did not. Returns how many have diverged. */
COSTATE_API int costate_batch_rollout(costate_batch* batch, int n_steps, const double* x, const double* u,
                                      double* states, int* completed);

/* How the solver left the time steps of the last costate_batch_step or costate_batch_rollout, as
 * costate_state_residual says it of one: residual (n_env), the largest, m/s; unconverged (n_env), how many
 * time steps it left without a solution. Either may be null. Returns how many environments have such steps.
 */
COSTATE_API int costate_batch_residuals(costate_batch* batch, double* residual, int* unconverged);

/* Reverse of a rollout, and with n_steps = 1 of a step: the gradient of a function of all states, pulled
 * back. In: x (n_steps x n_env x nx), the states in which control steps begin, which are those before the
 * rollout and all but the last after; u as it was; completed (n_env) as the rollout gave it, or null for all;
 * states_bar (n_steps x n_env x ndx), gradients by the states after each step. Those of steps that were not
 * completed do not count. Out, written and not added to, each may be null: x_bar (n_env x ndx), by the states
 * before the rollout; u_bar (n_steps x n_env x nu); theta_bar, by parameters: nparam numbers, summed over
 * environments in their order, or n_env x nparam, each its own; theta_size says which. Time steps of a
 * control step are summed from the last to the first, then control steps. An environment that diverges, or
 * whose gradient would not be finite, has gradients of zero. Returns how many those are. */
COSTATE_API int costate_batch_backward(costate_batch* batch, int n_steps, const double* x, const double* u,
                                       const int* completed, const double* states_bar, double* x_bar,
                                       double* u_bar, double* theta_bar, size_t theta_size);

/* Where frames are in states x (n_env x nx): frames (n) are bodies, counted from 0, then sites, counted on
 * from the number of bodies. poses (n_env x n x 7): origin, m, world axes, and quaternion (w >= 0).
 * velocities (n_env x n x 6): of the origin, m/s, and angular, rad/s, world axes. Either may be null. */
COSTATE_API int costate_batch_poses(costate_batch* batch, const double* x, const int* frames, size_t n,
                                    double* poses, double* velocities);
/* Its reverse: poses_bar (n_env x n x 6: origin, turn in axes of the frame), velocities_bar (n_env x n x 6),
 * null for zeros, to x_bar and theta_bar as above. */
COSTATE_API int costate_batch_poses_vjp(costate_batch* batch, const double* x, const int* frames, size_t n,
                                        const double* poses_bar, const double* velocities_bar, double* x_bar,
                                        double* theta_bar, size_t theta_size);

#ifdef __cplusplus
}
#endif

#endif
