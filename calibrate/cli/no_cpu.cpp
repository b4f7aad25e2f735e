#include "calibrate/cli/backends.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

[[noreturn]] void refuse() {
  throw EnvironmentError(
      "this build has no CPU backend: it was made without OpenBLAS (Debian: libopenblas-dev)");
}

}  // namespace

int calibrate_cpu(const Job& /*job*/, const PlanRules& /*rules*/) { refuse(); }
int train_cpu(const Job& /*job*/) { refuse(); }

}  // namespace headway
