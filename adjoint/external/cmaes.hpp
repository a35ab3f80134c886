// The library costate_external. It is apart from the others because it links pagmo and NLopt.
#pragma once

namespace costate {

void use_cmaes();  // makes Method::cmaes available; does nothing in a build without pagmo

}  // namespace costate
