#include "calibrate/cli/backends.h"
#include "sim/base/diagnostic.h"

namespace headway {

int calibrate_cuda(const Job& /*job*/, const PlanRules& /*rules*/) {
  throw EnvironmentError("this build has no CUDA backend: it was made without the CUDA toolkit");
}

}  // namespace headway
