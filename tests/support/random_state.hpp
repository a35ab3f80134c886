// States of random worlds with contacts: floating trees are placed on the ground, on obstacles and on each
// other, equalities hold approximately, then everything is perturbed.
#pragma once

#include "solvers/step/step.hpp"
#include "tests/support/random_world.hpp"
#include "tests/support/step_derivatives.hpp"

namespace costate::test {

namespace random_world {

// Poses of a configuration, and gaps of pairs of shapes.
struct Poses {
    const ToyState& t;
    Kinematics<double> k;
    ContactScratch<double> shapes;

    explicit Poses(const ToyState& state) : t(state), k(t.world.model), shapes(t.world) {
        kinematics(t.world.model, t.theta.data(), t.x.data(), t.x.data() + t.world.nq(), k);
        place_shapes(t.world, t.theta.data(), k, shapes);
    }
    Placed placed_shape(int i) const {
        const ShapeSet& set = t.world.shapes;
        return {set.shapes[i], load3(t.theta.data() + set.size.at(i)), shapes.X_WS[i]};
    }
    Transform<double> body(int i) const {
        if (i < 0) return Transform<double>::identity();
        return {k.X[i].R, k.world_position(t.world.model, i)};
    }
};

// Moves the floating tree until its nearest shape has the gap `target` to shape `other`; first along z if
// `other` is unbounded.
inline void lay_tree(ToyState& t, const Tree& tree, int other, const Vec3<double>& from, double target) {
    const ShapeSet& set = t.world.shapes;
    double* p = t.x.data() + t.world.model.bodies[tree.body_begin].q0;
    const auto moves = [&](const Shape& s) {
        return s.body >= tree.body_begin && s.body < tree.body_end && s.type != ShapeType::plane;
    };
    add3(p, Vec3<double>(Poses(t).placed_shape(other).X.p + from - load3(p)));
    for (int k = 0; k < 6; ++k) {
        const Poses poses(t);
        Contact<double> nearest{{}, Vec3<double>::Zero(), std::numeric_limits<double>::infinity()};
        const Placed b = poses.placed_shape(other);
        for (size_t i = 0; i < set.shapes.size(); ++i) {
            if (!moves(set.shapes[i])) continue;
            const Placed a = poses.placed_shape(static_cast<int>(i));
            const FeatureList list = features(a, b);
            for (int n = 0; n < list.count; ++n)
                if (const Contact<double> c = contact(a, b, list.pair(n, 0, 1)); c.gap < nearest.gap)
                    nearest = c;
        }
        if (!std::isfinite(nearest.gap) || std::abs(nearest.gap - target) < 1e-9) return;
        add3(p, Vec3<double>((target - nearest.gap) * nearest.normal));
    }
}

// Gaps from an overlap of one centimetre to almost out of reach.
inline double random_gap(Stream& g) {
    switch (g.below(4)) {
        case 0: return -g.magnitude(-4, -2);
        case 1: return g.magnitude(-5, -2);
        case 2: return g.uniform(-2e-4, 2e-4);
        default: return -1e-4;
    }
}

inline void lay_trees(ToyState& t, std::uint64_t seed) {
    const World& w = t.world;
    Stream g(seed, "lay");
    for (const Tree& tree : w.model.trees) {
        const Body& root = w.model.bodies[tree.body_begin];
        if (root.joint != JointType::free) continue;
        VecX<double> d = VecX<double>::Zero(w.nv());
        d.segment<6>(root.v0) << g.uniform(-0.4, 0.4), g.uniform(-0.4, 0.4), g.uniform(0.2, 1), g.vec3();
        if (g.chance(0.2)) d.segment<3>(root.v0 + 3).setZero();
        const VecX<double> q = t.x.head(w.nq());
        retract(w.model, q.data(), d.data(), t.x.data());
        std::vector<int> others;  // shapes of the world and of earlier trees
        for (size_t i = 0; i < w.shapes.shapes.size(); ++i)
            if (w.shapes.shapes[i].body < tree.body_begin && w.shapes.shapes[i].type != ShapeType::plane)
                others.push_back(static_cast<int>(i));
        int other = w.shapes.index("ground");
        Vec3<double> from(d[root.v0], d[root.v0 + 1], 0.6);
        if (!others.empty() && (other < 0 || g.chance(0.4)))
            other = others[g.below(static_cast<int>(others.size()))];
        if (other < 0) continue;
        if (w.shapes.shapes[other].body >= 0 || w.shapes.shapes[other].name != "ground")
            from = 0.6 * g.unit();
        lay_tree(t, tree, other, from, random_gap(g));
    }
}

// Most equalities hold up to an error of a millimetre.
inline void close_equalities(ToyState& t, std::uint64_t seed) {
    Model& m = t.world.model;
    const Poses poses(t);
    for (size_t n = 0; n < m.equalities.size(); ++n) {
        Stream g(seed, "close", static_cast<int>(n));
        if (g.chance(0.2)) continue;
        Equality& e = m.equalities[n];
        const int i = static_cast<int>(n);
        double* c = t.theta.data() + m.coupling.at(i);
        if (e.type == EqualityType::coupling)
            c[0] += t.x[e.q_a] - CouplingCurve<double>(c, t.x[e.q_b]).value + 1e-3 * g.normal();
        const Transform<double> a = poses.body(e.body_a), b = poses.body(e.body_b);
        const Vec3<double> on_a = transform_point<double>(a, load3(t.theta.data() + m.anchor_a.at(i)));
        const Vec3<double> on_b = b.R.transpose() * (on_a - b.p) + 1e-3 * g.vec3();
        std::copy_n(on_b.data(), 3, t.theta.data() + m.anchor_b.at(i));
        e.R_ba = rotation_matrix(quaternion_exp<double>(1e-2 * g.vec3())) * b.R.transpose() * a.R;
    }
}

}  // namespace random_world

// A world with the unperturbed state in t.x.
inline ToyState random_touching_world(std::uint64_t seed, const WorldSize& size,
                                      const WorldExtras& extras = {}) {
    ToyState t = make_random_world(seed, size, extras);
    random_world::lay_trees(t, seed);
    random_world::close_equalities(t, seed);
    return t;
}

// State and controls number `index` around those of `base`: perturbed by 1e-5 to 0.3, at rest or moving. One
// in three runs some steps, so that it rests, rolls or slides as in a rollout.
inline ToyState random_state(const ToyState& base, std::uint64_t seed, int index, StepScratch<double>& s) {
    const World& w = base.world;
    Stream g(seed, "state", index);
    ToyState t = base;
    const double spread = g.magnitude(-5, -0.5), speed = g.chance(0.1) ? 0 : g.magnitude(-3, 0.3);
    const VecX<double> d = spread * random_vector(w.nv(), g, Regime::random);
    retract(w.model, base.x.data(), d.data(), t.x.data());
    t.x.tail(w.nv()) = speed * random_vector(w.nv(), g, Regime::random);
    t.u = g.magnitude(-1, 0.5) * random_vector(w.nu(), g, Regime::random);
    const int steps = g.chance(0.33) ? 1 + g.below(10) : 0;
    VecX<double> next;
    for (int k = 0; k < steps; ++k) {
        next = run_step(t, s);
        // faster states are instabilities of too stiff servos or of light bodies that spin without damping,
        // and test nothing more
        if (!next.allFinite() || !(next.tail(w.nv()).array().abs() < 30).all()) break;
        t.x = next;
    }
    return t;
}

}  // namespace costate::test
