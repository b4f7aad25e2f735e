#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/suite/backend.h"
#include "calibrate/suite/sweep.h"

namespace headway {

struct PlanRules {
  bool quick = false;                          ///< a coarser grid and shorter budgets
  std::vector<GemmPoint> shapes = {};          ///< products to be measured besides the grid
  std::vector<AttentionShape> attention = {};  ///< likewise, fused attention
  std::vector<std::string> only = {};          ///< plan_part_names(); products are always measured
};

/// What a plan can be limited to: its sections after the products, and the kinds of collectives.
[[nodiscard]] std::vector<std::string_view> plan_part_names();
/// Whether such a part is to be measured.
[[nodiscard]] bool is_wanted(const PlanRules& rules, std::string_view part);
/// The part that repeats one product for long; no section, as it has samples of its own.
inline constexpr std::string_view kSustainedPart = "sustained";

/// What is measured of an offer, in this order, so that what a failure leaves is the most needed:
/// products, those of training (training_points.h), memory-bound kernels, the optimizer, launches,
/// copies, collectives. Each section ends before the next begins.
[[nodiscard]] std::vector<Section> calibration_plan(const Offer& offer, const PlanRules& rules);

/// Why products of `rules.shapes` and attention are not in the plan: the device does not compute in
/// their precision, their operands do not fit in half of its memory, or fused attention cannot be
/// measured. A line for each reason.
[[nodiscard]] std::vector<std::string> left_out_shapes(const Offer& offer, const PlanRules& rules);

/// What a job consists of.
struct Shapes {
  std::vector<GemmPoint> products;
  std::vector<AttentionShape> attention;
};

/// By line, as `headway list shapes` writes them: products "PRECISION M N K", each of which is
/// measured in every layout, and "attention SEQUENCES LENGTH QUERY_HEADS KEY_HEADS HEAD_SIZE
/// causal", or full. Blank lines and what follows a '#' do not count. Throws InputError naming the
/// lines; `name` is the file's.
[[nodiscard]] Shapes read_shapes(std::istream& text, const std::string& name);

}  // namespace headway
