#include "scenes/import/sdf/sdf_parts.hpp"

#include <cmath>

#include "scenes/format/inertia.hpp"
#include "scenes/format/names.hpp"

namespace costate {

void SdfContext::fail(sdf::ElementPtr at, const std::string& what, const std::string& remedy) const {
    const std::string name = at == nullptr ? "" : "<" + at->GetName() + "> ";
    throw SceneError(one_line(file.place(at) + ": " + name + what + "; " + remedy));
}

void SdfContext::warn(sdf::ElementPtr at, const std::string& what, const std::string& remedy,
                      const std::string& example) const {
    warnings.add(file.place(at), what, remedy, example);
}

void SdfContext::note(sdf::ElementPtr at, const std::string& what, const std::string& remedy,
                      const std::string& example) const {
    warnings.note(file.place(at), what, remedy, example);
}

double SdfContext::finite(double x, sdf::ElementPtr at) const {
    if (!std::isfinite(x)) fail(at, "has a number that is not finite", "use finite numbers");
    return x;
}

double SdfContext::positive(double x, sdf::ElementPtr at) const {
    if (!(finite(x, at) > 0)) fail(at, "has a length that is not positive", "use lengths above 0");
    return x;
}

Vec3<double> SdfContext::finite(const ignition::math::Vector3d& v, sdf::ElementPtr at) const {
    return {finite(v.X(), at), finite(v.Y(), at), finite(v.Z(), at)};
}

sdf::ElementPtr SdfContext::find(sdf::ElementPtr at, std::initializer_list<const char*> path) {
    for (const char* name : path) {
        if (at == nullptr || !at->HasElement(name)) return nullptr;
        at = at->GetElement(name);
    }
    return at;
}

std::optional<double> SdfContext::number(sdf::ElementPtr at, std::initializer_list<const char*> path) const {
    const sdf::ElementPtr element = find(at, path);
    if (element == nullptr) return {};
    return finite(element->Get<double>(), element);
}

bool SdfContext::is_true(sdf::ElementPtr at, std::initializer_list<const char*> path) const {
    const sdf::ElementPtr element = find(at, path);
    return element != nullptr && element->Get<bool>();
}

void SdfContext::read_mass(const sdf::Link& link, SdfLink& out) const {
    const sdf::ElementPtr at = link.Element(), inertial = find(at, {"inertial"});
    if (inertial == nullptr)
        note(at, "a link without <inertial> has the mass 1 kg and the moments 1 kg m^2 of SDFormat",
             "write its own");
    else if (find(inertial, {"inertia"}) == nullptr && link.Inertial().MassMatrix().Mass() > 0)
        note(inertial, "an <inertial> without <inertia> has the moments 1 kg m^2 of SDFormat",
             "write its own");
    const auto& mass = link.Inertial().MassMatrix();
    const auto& moments = mass.DiagonalMoments();
    const auto& products = mass.OffDiagonalMoments();
    const double six[] = {finite(moments.X(), inertial),  finite(moments.Y(), inertial),
                          finite(moments.Z(), inertial),  finite(products.X(), inertial),
                          finite(products.Y(), inertial), finite(products.Z(), inertial)};
    out.mass = finite(mass.Mass(), inertial);
    if (out.mass < 0) fail(inertial, "has a negative mass", "use 0 or more");
    if (out.mass == 0) return;
    Mat3<double> I = inertia_matrix(six);
    if (!I.isZero(0))
        if (const std::string change = make_physical(I, out.mass); !change.empty())
            warn(inertial, "inertia of link \"" + out.name + "\": " + change,
                 "write that of a solid, or six zeros for a point mass");
    const Transform<double> X = to_transform(link.Inertial().Pose());
    if (!X.p.allFinite() || !X.R.allFinite()) fail(inertial, "has a pose that is not finite", "correct it");
    out.com = X.p;
    out.inertia = Mat3<double>(X.R * I * X.R.transpose());
}

SdfAxis SdfContext::read_axis(const sdf::JointAxis& axis, const Transform<double>& model) const {
    constexpr double beyond = 1e15;  // a limit or an effort above stands for none
    const sdf::ElementPtr at = axis.Element();
    ignition::math::Vector3d xyz;
    check_sdf(axis.ResolveXyz(xyz, "__model__"), file, warnings);
    SdfAxis out{Vec3<double>(model.R * finite(xyz, at)).normalized(), -unlimited, unlimited};
    const auto nonnegative = [&](double x, const char* what) {
        if (finite(x, at) < 0) fail(at, std::string("has negative ") + what, "use 0 or more");
        return x;
    };
    out.damping = nonnegative(axis.Damping(), "damping");
    out.friction = nonnegative(axis.Friction(), "friction");
    out.stiffness = nonnegative(axis.SpringStiffness(), "spring_stiffness");
    out.rest = finite(axis.SpringReference(), at);
    if (!std::isnan(axis.Effort()) && axis.Effort() > 0 && axis.Effort() < beyond) out.effort = axis.Effort();
    if (std::isnan(axis.Lower()) || std::isnan(axis.Upper())) finite(axis.Lower() + axis.Upper(), at);
    if (axis.Lower() > axis.Upper()) {
        warn(at, "a joint with its lower end above its upper end moves without limits", "swap them");
        return out;
    }
    if (axis.Lower() > -beyond) out.lower = axis.Lower();
    if (axis.Upper() < beyond) out.upper = axis.Upper();
    const auto stiffness = number(at, {"limit", "stiffness"}), loss = number(at, {"limit", "dissipation"});
    constexpr double rigid = 1e8;  // N/m or N m/rad: the default of SDFormat
    if (stiffness && *stiffness > 0 && *stiffness < rigid) {
        out.limit_stiffness = *stiffness;
        out.limit_damping = nonnegative(loss.value_or(1), "dissipation");
    }
    return out;
}

}  // namespace costate
