#include "sim/engine/engine_version.h"

#include <fmt/format.h>
#include <simgrid/version.h>

#include <simgrid/s4u/Engine.hpp>

namespace headway {

std::string engine_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace headway
