#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/output/memory_fit.h"

namespace headway {

/// How many times as long work takes while other work runs beside it on the device.
struct Slowdown {
  ConcurrentPoint point;  ///< has a `beside`
  double factor = 1.0;
  double spread = 0.0;
};

/// The slowdown of every concurrent point whose work was also timed by itself, in the order of the
/// points.
[[nodiscard]] std::vector<Slowdown> slowdowns(const std::vector<MeasuredPoint>& points);

/// Whether products were timed beside collectives.
[[nodiscard]] bool hold_collectives(const std::vector<Slowdown>& slowdowns);

/// By what share of the shorter one a product and a collective slow each other down, or a product
/// and a copy by few blocks where no product was timed beside a collective.
/// Of work of the times C and T by itself, that become c C and t T beside each other, the shorter
/// one, say T, ends after t T; until then t T / c of the longer one was done, and the rest of it is
/// left. Together: C + T t (1 - 1/c), so that the share is t (1 - 1/c), or c (1 - 1/t) where C is
/// the shorter one. The mean of both over all such pairs, 0 where neither was slowed down; nothing
/// if no pair was measured both ways.
[[nodiscard]] std::optional<Ratio> interference(const std::vector<Slowdown>& slowdowns);

/// "gemm bf16 nn ... beside copy few_blocks of ...: 1.12; ...", for a profile's provenance.
[[nodiscard]] std::string slowdowns_text(const std::vector<Slowdown>& slowdowns);

}  // namespace headway
