#include "sim/engine/engine_version.h"

#include <fmt/format.h>

// clang-format off: version.h does not stand alone, it needs the macros of base.h.
#include <xbt/base.h>
#include <simgrid/version.h>
// clang-format on

namespace headway {

std::string engine_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace headway
