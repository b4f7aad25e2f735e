#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/suite/backend.h"
#include "calibrate/suite/sweep.h"

namespace headway {

struct PlanRules {
  bool quick = false;                  ///< a coarser grid and shorter budgets
  std::vector<GemmPoint> shapes = {};  ///< products to be measured besides the grid
  std::vector<std::string> only = {};  ///< plan_part_names(); products are always measured
};

/// What a plan can be limited to: its sections after the products, and the kinds of collectives.
[[nodiscard]] std::vector<std::string_view> plan_part_names();

/// What is measured of an offer, in this order, so that what a failure leaves is the most needed:
/// products, memory-bound kernels, the optimizer, launches, copies, collectives. Each section ends
/// before the next begins.
[[nodiscard]] std::vector<Section> calibration_plan(const Offer& offer, const PlanRules& rules);

/// Why products of `rules.shapes` are not in the plan: the device does not compute in their
/// precision, or their operands do not fit in half of its memory. A line for each reason.
[[nodiscard]] std::vector<std::string> left_out_shapes(const Offer& offer, const PlanRules& rules);

/// Products by line, "PRECISION M N K", as `headway list shapes` writes them; blank lines and what
/// follows a '#' do not count. Each is measured in every layout. Throws InputError naming the line;
/// `name` is the file's.
[[nodiscard]] std::vector<GemmPoint> read_shapes(std::istream& text, const std::string& name);

}  // namespace headway
