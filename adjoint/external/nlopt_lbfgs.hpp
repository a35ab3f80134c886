// L-BFGS by NLopt, in place of that of lbfgs.cpp. In the library costate_external, because NLopt is in part LGPL.
#pragma once

namespace costate {

bool use_nlopt();  // for Method::lbfgs from now on; false in a build without NLopt, which keeps that of lbfgs.cpp

}  // namespace costate
