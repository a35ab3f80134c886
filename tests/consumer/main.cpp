#include "core/model.hpp"
#include "core/spatial.hpp"

int main() {
    using costate::Motion;
    const Motion<double> spin{{0, 0, 1}, {0, 0, 0}}, slide{{0, 0, 0}, {1, 0, 0}};
    const bool header_works = cross_motion(spin, slide).lin.y() == 1;
    const bool library_works = costate::joint_nv(costate::JointType::free) == 6;
    return header_works && library_works ? 0 : 1;
}
