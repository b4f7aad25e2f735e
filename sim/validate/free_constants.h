#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

/// A free number of the fit of the published profiles, and what it rests on.
struct FreeConstant {
  std::string constant;   ///< what it moves: "memory traffic"
  std::string of;         ///< whose: "all", accelerators, families, or a source
  double factor = 1.0;    ///< on the prior, or for a source on what others have
  double width = 0.0;     ///< of the distribution it is drawn from, of the logarithm
  double spread = 0.0;    ///< what the rows leave of that
  std::int64_t rows = 0;  ///< published steps whose time it changes
  std::int64_t configurations = 0;
  std::int64_t sources = 0;
};

/// Those of scenarios/validation/constants.json, in its order.
[[nodiscard]] std::vector<FreeConstant> free_constants();

}  // namespace headway
