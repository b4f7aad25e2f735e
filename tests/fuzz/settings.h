#pragma once

#include <cstdlib>

#include "tests/support/file_content.h"

namespace headway {

/// What the environment sets: HEADWAY_ROAD_INPUTS and the like ask for more than a short run,
/// HEADWAY_SEED begins elsewhere.
inline int number_from(const char* variable, int fallback) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? fallback : std::atoi(text);
}

}  // namespace headway
