#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/validate/validation_summary.h"

namespace headway {

/// A range of job sizes in accelerators, bounds included.
struct ScaleRange {
  std::int64_t least = 1;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
/// "64", "..64", "65..1024" or "1025..". Throws InputError for anything else.
[[nodiscard]] ScaleRange scale_range(std::string_view text);

/// Which rows are asked for: those that every part allows. An empty part allows all.
struct ValidationFilter {
  std::vector<std::string> id_prefixes;
  /// By name of a property: the words of the file, any one of which will do.
  std::map<std::string, std::vector<std::string>, std::less<>> words;
  std::vector<ScaleRange> scales;
};

[[nodiscard]] bool is_kept(const ValidationRow& row, const ValidationFilter& filter);

/// Throws InputError, with what may have been meant, for each word that no row has, and if no row
/// is left.
void check_filter(const ValidationFilter& filter, const std::vector<ValidationRow>& rows);

}  // namespace headway
