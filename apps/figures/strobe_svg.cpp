#include "apps/figures/strobe_svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/figures/plot.hpp"
#include "collision/detect/solid.hpp"

namespace costate {

namespace {

using Point = Eigen::Vector2d;

constexpr double width = 720, height = 440, margin = 44, header = 52;

// True if the term aims at a point at one time.
bool is_goal(const Term& term) {
    return term.kind == TermKind::position && (!term.running || term.instant) && term.reference.empty() &&
           (term.axes.array() != 0).all();
}

// Projection from the world to the drawing: from the side, to a horizontal axis and z, or from above, to x
// and y. All axes have the same scale.
struct View {
    int axis, up;  // 0: x, 1: y, 2: z; to the right and upwards
    Point lower, upper;
    double scale() const {
        return std::min((width - 2 * margin) / (upper - lower).x(),
                        (height - header - margin) / (upper - lower).y());
    }
    Point flat(const Vec3<double>& p) const { return {p[axis], p[up]}; }
    Point place(const Point& p) const {
        const Point middle = 0.5 * (lower + upper);
        return {0.5 * width + scale() * (p - middle).x(),
                0.5 * (header + height - margin) - scale() * (p - middle).y()};
    }
    Point place(const Vec3<double>& p) const { return place(flat(p)); }
};

std::string line(const Point& a, const Point& b, double thickness) {
    return print("<path d=\"M%.1f %.1fL%.1f %.1f\" stroke-width=\"%.1f\"/>", a.x(), a.y(), b.x(), b.y(),
                 thickness);
}

double cross(const Point& o, const Point& a, const Point& b) {
    return (a - o).x() * (b - o).y() - (a - o).y() * (b - o).x();
}

// Andrew's monotone chain.
std::vector<Point> convex_hull(std::vector<Point> points) {
    std::sort(points.begin(), points.end(),
              [](const Point& a, const Point& b) { return a.x() != b.x() ? a.x() < b.x() : a.y() < b.y(); });
    std::vector<Point> hull;
    for (int side = 0; side < 2; ++side, std::reverse(points.begin(), points.end())) {
        const size_t start = hull.size();
        for (const Point& p : points) {
            while (hull.size() >= start + 2 && cross(hull[hull.size() - 2], hull.back(), p) <= 0)
                hull.pop_back();
            hull.push_back(p);
        }
        hull.pop_back();
    }
    return hull;
}

// The outline of a convex shape from its support points along directions in the plane of the drawing.
std::vector<Point> outline(const View& view, const Solid& solid) {
    constexpr int directions = 72;
    std::vector<Point> points;
    for (int i = 0; i < directions; ++i) {
        const double angle = 2 * std::acos(-1.0) * i / directions;
        Vec3<double> d = Vec3<double>::Zero();
        d[view.axis] = std::cos(angle);
        d[view.up] = std::sin(angle);
        points.push_back(view.place(solid.support(d)));
    }
    return convex_hull(points);
}

// One shape at a pose of its body.
std::string draw_shape(const View& view, const Shape& shape, const Vec3<double>& size,
                       const Transform<double>& X) {
    const auto half_segment = [&] { return Vec3<double>(size.y() * X.R.col(2)); };
    if (shape.type == ShapeType::sphere) {
        const Point c = view.place(X.p);
        return print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", c.x(), c.y(),
                     std::max(2.0, view.scale() * size.x()));
    }
    if (shape.type == ShapeType::capsule)
        return line(view.place(Vec3<double>(X.p - half_segment())),
                    view.place(Vec3<double>(X.p + half_segment())), 2 * view.scale() * size.x());
    if (shape_kind(shape.type).unbounded) return "";
    std::string polygon = "<polygon points=\"";
    for (const Point& p : outline(view, Solid(shape, X, size)))
        polygon += print("%.1f,%.1f ", p.x(), p.y());
    return polygon + "\"/>";
}

// The view that shows most of a motion with these extents: from the side of the longer horizontal axis, or
// from above if the motion is flat.
View view_of(const Vec3<double>& lower, const Vec3<double>& upper) {
    constexpr double flat = 0.5;  // height over the shorter horizontal axis
    const Vec3<double> extent = upper - lower;
    const int longer = extent.x() >= extent.y() ? 0 : 1;
    const bool above = extent.z() < flat * extent[1 - longer];
    return above ? View{0, 1, {}, {}} : View{longer, 2, {}, {}};
}

}  // namespace

void StrobeFigure::add(const std::string& label, Rollout<Simulation>& rollout, const RolloutInputs& in) {
    const Model& m = scene_.world.model;
    const Observation<double> y = rollout.step().observation();
    Run run{label, {}};
    rollout.forward(in.theta, in.x0, in.z, [&](int t, const double*, const double*) {
        const auto moment =
            static_cast<size_t>(static_cast<long>(t) * path_points / std::max(1, scene_.steps));
        if (run.poses.size() > moment) return;
        std::vector<Transform<double>> poses;
        for (int i = 0; i < static_cast<int>(m.bodies.size()); ++i)
            poses.push_back({y.rotation(i), y.position(i)});
        run.poses.resize(moment + 1, poses);
    });
    runs_.push_back(std::move(run));
}

std::string StrobeFigure::svg() const {
    const Model& m = scene_.world.model;
    const ShapeSet& set = scene_.world.shapes;
    // bounds of the drawing: all bodies at all times, and the targets
    Vec3<double> lower = Vec3<double>::Constant(unlimited), upper = -lower;
    const auto see = [&](const Vec3<double>& p) {
        lower = lower.cwiseMin(p);
        upper = upper.cwiseMax(p);
    };
    for (const Run& run : runs_)
        for (const auto& poses : run.poses)
            for (const auto& X : poses)
                see(X.p);
    for (const Term& term : scene_.objective)
        if (is_goal(term)) see(term.target);
    bool ground = false;
    for (const Shape& s : set.shapes)
        ground = ground || s.type == ShapeType::plane;
    View view = view_of(lower, upper);
    ground = ground && view.up == 2;
    if (ground) lower.z() = std::min(lower.z(), 0.0);
    view.lower = view.flat(lower) - Point::Constant(0.1);
    view.upper = view.flat(upper) + Point::Constant(0.1);

    std::string out = svg_begin(width, height,
                                scene_.name + (view.up == 1     ? ", seen from above"
                                               : view.axis == 0 ? ", seen along the y axis"
                                                                : ", seen along the x axis"));
    if (ground)
        out += "<g stroke=\"#888\">" +
               line({0.5 * margin, view.place(Point(0, 0)).y()},
                    {width - 0.5 * margin, view.place(Point(0, 0)).y()}, 1) +
               "</g>\n";
    for (size_t r = 0; r < runs_.size(); ++r) {
        const Run& run = runs_[r];
        const char* colour = r + 1 == runs_.size() ? after_colour : before_colour;
        out += print("<g stroke=\"%s\" fill=\"%s\" stroke-linecap=\"round\">\n", colour, colour);
        const size_t last = run.poses.size() - 1;
        for (int f = 0; f <= frames; ++f) {
            const auto& poses = run.poses[last * static_cast<size_t>(f) / frames];
            out += print("<g opacity=\"%.2f\" fill-opacity=\"0.6\">", 0.15 + 0.5 * f / frames);
            for (size_t i = 0; i < m.bodies.size(); ++i)
                if (m.bodies[i].parent >= 0)
                    out += line(view.place(poses[m.bodies[i].parent].p), view.place(poses[i].p), 3);
            for (size_t n = 0; n < set.shapes.size(); ++n) {
                const Shape& s = set.shapes[n];
                if (s.body < 0) continue;
                const Eigen::Map<const Vec3<double>> position(scene_.theta.data() +
                                                              set.position.at(static_cast<int>(n))),
                    size(scene_.theta.data() + set.size.at(static_cast<int>(n))),
                    rotation(scene_.theta.data() + set.rotation.at(static_cast<int>(n)));
                out += draw_shape(
                    view, s, size,
                    compose<double>(poses[s.body], {retract_rotation<double>(s.R_BS, rotation), position}));
            }
            out += "</g>\n";
        }
        for (const Tree& tree : m.trees) {
            const size_t root = tree.body_begin;
            if (tree.body_end - tree.body_begin != 1 || m.bodies[root].joint != JointType::free) continue;
            out += "<polyline fill=\"none\" stroke-width=\"1.5\" stroke-dasharray=\"1 5\" points=\"";
            for (const auto& poses : run.poses) {
                const Point p = view.place(poses[root].p);
                out += print("%.1f,%.1f ", p.x(), p.y());
            }
            out += "\"/>\n";
        }
        out += "</g>\n" +
               print("<text x=\"%.0f\" y=\"30\" text-anchor=\"end\" fill=\"%s\">",
                     width - margin - 70.0 * static_cast<double>(runs_.size() - 1 - r), colour) +
               run.label + "</text>\n";
    }
    for (const Term& term : scene_.objective) {
        if (!is_goal(term)) continue;
        const Point p = view.place(term.target);
        out += "<g stroke=\"#d55e00\">" + line(p - Point(7, 7), p + Point(7, 7), 2.5) +
               line(p - Point(7, -7), p + Point(7, -7), 2.5) + "</g>\n";
    }
    const double metre = view.scale();
    out += "<g stroke=\"#222\">" + line({margin, height - 16}, {margin + metre, height - 16}, 2) + "</g>" +
           print("<text x=\"%.0f\" y=\"%.0f\">1 m</text>\n", margin + metre + 8, height - 11);
    return out + "</svg>\n";
}

}  // namespace costate
