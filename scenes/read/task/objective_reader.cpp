#include <algorithm>
#include <cmath>

#include "scenes/format/names.hpp"
#include "scenes/read/task/recording_reader.hpp"
#include "scenes/read/task/task_reader.hpp"
#include "scenes/read/world/initial_reader.hpp"

namespace costate {
namespace {

// What the terms of a scene refer to.
struct TermContext {
    const World& world;
    const VecX<double>& x0;
    const std::filesystem::path& folder;  // of recordings and references
    int steps;
    bool constrains =
        false;  // by default, a constraint holds at all times, the end included, and has the target 0

    double h() const { return world.settings.time_step; }
};

std::vector<std::string> term_names() {
    std::vector<std::string> names;
    for (const TermTraits& traits : term_traits)
        names.push_back(traits.name);
    return names;
}

// Refuses the keys that a term does not use.
void forbid_others(const Node& node, const TermTraits& traits) {
    const std::string because = std::string("the term is ") + traits.name;
    const auto unless = [&](bool meant, std::initializer_list<const char*> keys) {
        if (!meant) node.forbid(keys, because);
    };
    const TermSubject subject = traits.subject;
    const bool orients = traits.kind == TermKind::orientation;
    unless(subject == TermSubject::point, {"point"});
    unless(subject == TermSubject::point || orients, {"site"});
    unless(subject == TermSubject::point || subject == TermSubject::body, {"body"});
    unless(traits.has_target || subject == TermSubject::sensor, {"axes"});
    unless(!orients && subject != TermSubject::file, {"target", "reference"});
    unless(orients, {"quaternion", "rpy_deg"});
    unless(subject == TermSubject::bodies, {"tree"});
    unless(subject == TermSubject::joints, {"joints"});
    unless(subject == TermSubject::actuators, {"actuators"});
    unless(subject == TermSubject::shape, {"shape"});
    unless(subject == TermSubject::sensor, {"sensor"});
    unless(subject == TermSubject::file, {"file", "columns"});
    unless(traits.kind == TermKind::clearance, {"clearance"});
    unless(traits.kind == TermKind::symmetry, {"partners", "mirror"});
}

// True if the final state has no such numbers, because no step follows it.
bool is_of_a_step(const Term& term) {
    return traits_of(term.kind).of_a_step ||
           (!term.sensors.empty() && traits_of(term.sensors[0].kind).reads != SensorReads::state) ||
           std::ranges::any_of(term.recording.signals, &Signal::is_of_a_step);
}

// The indices that the patterns under `key` match; all indices if the key is absent.
std::vector<int> read_matches(const Node& node, const char* key, const char* kind,
                              const std::vector<std::string>& names) {
    std::vector<bool> chosen(names.size(), !node.has(key));
    if (const auto patterns = node.find(key))
        for (const Node& pattern : patterns->items())
            for (const int i : resolve(pattern, pattern.text(), kind, names))
                chosen[i] = true;
    std::vector<int> out;
    for (size_t i = 0; i < chosen.size(); ++i)
        if (chosen[i]) out.push_back(static_cast<int>(i));
    return out;
}

// One number, which stands for all, or `size` numbers.
std::vector<double> read_each(const Node& node, int size) {
    if (!node.is_array()) return std::vector<double>(size, node.number());
    return node.numbers(size);
}
VecX<double> vector_of(const std::vector<double>& numbers) {
    return Eigen::Map<const VecX<double>>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

// True for a constraint over time that also holds in the final state.
bool reaches_end(const Term& term, const TermContext& in) {
    return in.constrains && term.running && !term.instant && term.end >= in.steps && !is_of_a_step(term);
}

// The step that begins nearest to a time; the number of steps for the end.
int read_step(const Node& node, const TermContext& in) {
    const double time = node.number(), step = std::round(time / in.h());
    if (!(time >= 0 && step <= in.steps)) {
        std::ostringstream end;
        end << in.steps * in.h() << " s";
        node.fail("is outside the rollout, which ends at " + end.str(), "use a time from 0 to " + end.str());
    }
    return static_cast<int>(step);
}

// When the term counts: "at", "from" and "until".
void read_times(const Node& node, const TermContext& in, Term& term) {
    const TermTraits& traits = traits_of(term.kind);
    const bool of_a_step = is_of_a_step(term);
    const std::optional<Node> at = node.find("at");
    term.running = of_a_step || traits.subject == TermSubject::file || in.constrains;
    if (at && !at->is_number()) term.running = at->choice({"end", "running"}) == 1;
    if (at && at->is_number()) {
        term.first = read_step(*at, in);
        term.instant = term.running = term.first < in.steps;
        if (term.instant) term.end = term.first + 1;
    }
    if (of_a_step && !term.running)
        node["at"].fail("the final state has no " + std::string(traits.name) + ", because no step follows it",
                        "use \"running\"");
    if (term.instant || !term.running)
        return node.forbid({"from", "until"}, "the term does not count over time");
    if (const auto from = node.find("from")) term.first = read_step(*from, in);
    if (const auto until = node.find("until")) term.end = read_step(*until, in);
    if (term.first >= std::min(term.end, in.steps))
        node[node.has("until") ? "until" : "from"].fail("leaves no step between \"from\" and \"until\"",
                                                        "widen the window");
}
// The first and the last time at which the term counts, as steps.
std::pair<int, int> span_of(const Term& term, const TermContext& in) {
    if (!term.running) return {in.steps, in.steps};
    return {term.first, reaches_end(term, in) ? in.steps : std::min(term.end, in.steps) - 1};
}

// "norm" and "threshold"
void read_norm(const Node& node, Term& term) {
    if (const auto norm = node.find("norm"))
        switch (norm->choice({"squared", "distance", "linear", "huber"})) {
            case 0: term.norm = TermNorm::squared; break;
            case 1: term.norm = TermNorm::distance; break;
            case 2: term.norm = TermNorm::linear; break;
            default: term.norm = TermNorm::huber;
        }
    if (term.norm == TermNorm::huber)
        term.threshold = node["threshold"].positive();
    else
        node.forbid({"threshold"}, "the norm is not huber");
}

// The bounds under two keys, of the difference to the target, before its factors, or of its length.
void read_bounds(const Node& node, const char* lower, const char* upper, Term& term) {
    if (!node.has(lower) && !node.has(upper)) return;
    const int size = residual_size(term);
    const auto read = [&](const char* key, double otherwise) -> VecX<double> {
        if (const auto bound = node.find(key)) return vector_of(read_each(*bound, size));
        return VecX<double>::Constant(size, otherwise);
    };
    term.lower = read(lower, -unlimited);
    term.upper = read(upper, unlimited);
    if (!(term.lower.array() <= term.upper.array()).all())
        node[upper].fail("is below the lower bound", "widen the bounds");
    if (traits_of(term.kind).linear && !node.has("norm")) term.norm = TermNorm::squared;
    const VecX<double> factors =
        traits_of(term.kind).has_target ? VecX<double>(term.axes) : VecX<double>(term.factors);
    for (Eigen::Index k = 0; !term.length && k < factors.size(); ++k) {
        if (factors[k] == 0) {
            term.lower[k] = -unlimited;
            term.upper[k] = unlimited;
            continue;
        }
        term.lower[k] *= factors[k];
        term.upper[k] *= factors[k];
        if (factors[k] < 0) std::swap(term.lower[k], term.upper[k]);
    }
}

// Bodies, points, joints and so on.
void read_subject(const Node& node, const TermContext& in, Term& term) {
    const Model& model = in.world.model;
    const TermSubject subject = traits_of(term.kind).subject;
    if (const auto site = node.find("site")) {
        node.forbid({"body", "point"}, "the site gives the point and the body");
        term.site = resolve_one(*site, "site", names_of(model.sites, &Site::name));
        term.body = model.sites[term.site].body;
    } else if (subject == TermSubject::point || subject == TermSubject::body)
        term.body = resolve_one(node["body"], "body", names_of(model.bodies, &Body::name));
    term.point = node.vec3_or("point", term.point);
    term.bodies = {0, static_cast<int>(model.bodies.size())};
    if (const auto tree = node.find("tree")) {
        const int body = resolve_one(*tree, "body", names_of(model.bodies, &Body::name));
        const Tree& it = model.trees[model.bodies[body].tree];
        term.bodies = {it.body_begin, it.body_end};
    }
    if (const auto shape = node.find("shape"))
        term.shape = resolve_one(*shape, "shape", names_of(in.world.shapes.shapes, &Shape::name));
    if (subject == TermSubject::actuators)
        term.controls =
            read_matches(node, "actuators", "actuator", names_of(model.actuators, &Actuator::name));
    if (subject == TermSubject::sensor) {
        const int sensor = resolve_one(node["sensor"], "sensor", names_of(in.world.sensors, &Sensor::name));
        term.sensors = {in.world.sensors[sensor]};
        term.sensors[0].offset = 0;
    }
}

// "partners" and "mirror" of a symmetry
void read_symmetry(const Node& node, const Model& model, Term& term) {
    node["actuators"];
    node["partners"];
    term.partners = read_matches(node, "partners", "actuator", names_of(model.actuators, &Actuator::name));
    const int size = residual_size(term);
    if (static_cast<int>(term.partners.size()) != size)
        node["partners"].fail("names " + std::to_string(term.partners.size()) + " actuators, \"actuators\" " +
                                  std::to_string(size),
                              "name a partner for each, both in the order of the model");
    term.mirror = VecX<double>::Ones(size);
    if (const auto mirror = node.find("mirror")) term.mirror = vector_of(read_each(*mirror, size));
}

// The force and the velocity of each actuator that drives a joint or tendon.
void read_power(const Node& node, const Model& model, Term& term) {
    const auto thrusts = [&](int n) { return !model.actuators[n].on_joint; };
    if (!node.has("actuators")) std::erase_if(term.controls, thrusts);
    if (std::ranges::any_of(term.controls, thrusts))
        node["actuators"].fail("includes an actuator that drives no joint", "name actuators on joints");
    for (const int n : term.controls)
        for (const SensorKind kind : {SensorKind::actuator_force, SensorKind::actuator_velocity}) {
            Sensor s;
            s.kind = kind;
            s.actuator = n;
            s.body = model.actuators[n].body;
            s.offset = static_cast<int>(term.sensors.size());
            s.size = 1;
            term.sensors.push_back(s);
        }
}

// "joints" and the target of a configuration. Returns the entries of q of its dofs, or nothing if a joint has
// others.
std::vector<int> read_joints(const Node& node, const TermContext& in, Term& term) {
    const Model& model = in.world.model;
    const bool configuration = term.kind == TermKind::configuration;
    const std::optional<Node> target = node.find("target");
    std::vector<int> entries;
    bool plain = true;
    term.q_target = in.constrains ? model.neutral_configuration() : VecX<double>(in.x0.head(model.nq));
    for (const int i : read_matches(node, "joints", "joint", names_of(model.bodies, &Body::joint_name))) {
        const Body& b = model.bodies[i];
        for (int j = 0; j < b.nv; ++j) {
            term.dofs.push_back(b.v0 + j);
            entries.push_back(b.q0 + j);
        }
        plain = plain && b.nq == b.nv;
        if (b.nv == 1 && configuration && target && target->is_number())
            term.q_target[b.q0] = target->number();
    }
    if (configuration && target && !target->is_number()) read_configuration(*target, model, term.q_target);
    return plain ? entries : std::vector<int>();
}

// "target" of terms that compare numbers with it
void read_target(const Node& node, Term& term) {
    const TermTraits& traits = traits_of(term.kind);
    if (traits.has_target) {
        term.target = node.vec3_or("target", term.target);
        term.axes = node.vec3_or("axes", term.axes);
    } else if (const auto target = node.find("target"); target && term.kind != TermKind::configuration) {
        term.reference.width = residual_size(term);
        term.reference.values = read_each(*target, term.reference.width);
    }
    if (const auto axes = node.find("axes"); axes && term.kind == TermKind::sensor)
        term.factors = vector_of(read_each(*axes, residual_size(term)));
}

// "reference": the target over time; q_entries: those of the dofs of a configuration
void read_reference_of(const Node& node, const TermContext& in, const std::vector<int>& q_entries,
                       Term& term) {
    const auto reference = node.find("reference");
    if (!reference) return;
    node.forbid({"target"}, "the reference gives it");
    const int size = residual_size(term);
    const auto [first, last] = span_of(term, in);
    if (term.kind != TermKind::configuration) {
        term.reference = read_reference(*reference, size, in.folder, first, last, in.h());
        return;
    }
    if (static_cast<int>(q_entries.size()) != size)
        reference->fail("a joint with a rotation has no numbers to follow",
                        "use the term \"recording\", or name other \"joints\"");
    const Samples numbers = read_reference(*reference, size, in.folder, first, last, in.h());
    term.reference.width = in.world.nq();
    for (int t = 0; t <= last; ++t) {
        VecX<double> q = term.q_target;
        for (int k = 0; k < size; ++k)
            q[q_entries[k]] = numbers.at(t)[k];
        term.reference.values.insert(term.reference.values.end(), q.begin(), q.end());
    }
}

void read_term_recording(const Node& node, const TermContext& in, Term& term) {
    const auto [first, last] = span_of(term, in);
    term.recording = read_recording(node, in.world, in.folder, first, last);
    for (const Signal& s : term.recording.signals)
        if (s.is_of_a_step() && !term.running)
            node["at"].fail("the final state has no \"" + s.names[0] + "\", because no step follows it",
                            "use \"running\"");
}

// What is measured, of what, when, and its difference to what.
Term read_measure(const Node& node, const TermContext& in) {
    Term term;
    const Node kind = node["term"];
    term.kind = static_cast<TermKind>(kind.choice(term_names()));
    forbid_others(node, traits_of(term.kind));
    term.name = node.text_or("name", kind.text());
    term.length = node.has("length") && node["length"].boolean();
    read_subject(node, in, term);
    read_times(node, in, term);
    std::vector<int> q_entries;
    if (traits_of(term.kind).subject == TermSubject::joints) q_entries = read_joints(node, in, term);
    if (term.kind == TermKind::clearance && node.has("clearance"))
        term.clearance = node["clearance"].positive();
    if (term.kind == TermKind::symmetry) read_symmetry(node, in.world.model, term);
    if (term.kind == TermKind::power) read_power(node, in.world.model, term);
    if (term.kind == TermKind::orientation) term.orientation = read_orientation(node);
    if (term.kind == TermKind::recording) read_term_recording(node, in, term);
    read_target(node, term);
    read_reference_of(node, in, q_entries, term);
    return term;
}

Term read_term(const Node& node, const TermContext& in) {
    node.expect_keys("term");
    Term term = read_measure(node, in);
    term.weight = node.number_or("weight", 1);
    read_norm(node, term);
    read_bounds(node, "lower", "upper", term);
    return term;
}

Constraint read_constraint(const Node& node, const TermContext& in) {
    node.expect_keys("constraint");
    Constraint c;
    Term term = read_measure(node, in);
    c.name = term.name;
    if (node.has("equals")) {
        node.forbid({"min", "max"}, "the constraint is an equality");
        read_bounds(node, "equals", "equals", term);
    } else {
        read_bounds(node, "min", "max", term);
    }
    if (!term.bounded()) node.fail("bounds nothing", "give it \"min\", \"max\" or \"equals\"");
    term.norm = TermNorm::squared;
    c.tolerance = node.positive_or("tolerance", c.tolerance);
    c.penalty = node.positive_or("penalty", c.penalty);
    c.parts = {term};
    if (reaches_end(term, in)) {
        c.parts.push_back(term);
        c.parts.back().running = false;
    }
    return c;
}

}  // namespace

Objective read_objective(const Node& scene, const World& world, const VecX<double>& x0,
                         const std::filesystem::path& folder, int steps) {
    const TermContext in{world, x0, folder, steps};
    Objective objective;
    if (const auto terms = scene.find("objective"))
        for (const Node& term : terms->items())
            objective.push_back(read_term(term, in));
    return objective;
}

Constraints read_constraints(const Node& scene, const World& world, const VecX<double>& x0,
                             const std::filesystem::path& folder, int steps) {
    const TermContext in{world, x0, folder, steps, true};
    Constraints constraints;
    if (const auto all = scene.find("constraints"))
        for (const Node& node : all->items())
            constraints.push_back(read_constraint(node, in));
    return constraints;
}

}  // namespace costate
