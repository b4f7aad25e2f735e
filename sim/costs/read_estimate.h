#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/costs/profile.h"
#include "sim/files/json_reader.h"
#include "sim/layers/kernel_shape.h"

namespace headway {

inline constexpr Range kShareOfPeak{.least = 0.0, .most = 1.0, .open = true};
inline constexpr Range kNotNegative{.least = 0.0};

/// The precision of that name ("bf16"), and what to say of a name that there is not.
[[nodiscard]] std::string precision_help(std::string_view name);

/// "source" of the object; reports an empty one: a number that nobody can trace is no use.
[[nodiscard]] std::string read_source(ObjectReader& reader);

/// The required member `key`, {"value": ..., "spread": ..., "source": ...}.
[[nodiscard]] Estimate read_estimate(ObjectReader& reader, std::string_view key, Range range);

/// The required member `key`, an object of estimates by precision.
[[nodiscard]] std::map<Precision, Estimate> read_estimates_by_precision(ObjectReader& reader,
                                                                        std::string_view key,
                                                                        Range range);

}  // namespace headway
