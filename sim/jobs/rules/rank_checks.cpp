#include <fmt/format.h>

#include <array>
#include <vector>

#include "sim/jobs/rules/strategy_checks.h"
#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

struct Degree {
  std::string_view field;
  int value;
};

/// "tensor_parallel 8 x pipeline_parallel 16 = 128 ranks".
std::string product_text(const std::vector<Degree>& degrees, double product) {
  std::string text;
  for (const Degree& degree : degrees) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", degree.field, degree.value);
  }
  return fmt::format("{} = {:.0f} rank{}", text, product, product == 1.0 ? "" : "s");
}

/// Degrees whose product no data parallelism fills up to the accelerators. The one to mend is the
/// last that does not divide them by itself, or the last.
void report_indivisible(const StrategyToCheck& input, const std::vector<Degree>& degrees,
                        double product, int accelerators) {
  Degree mended = degrees.back();
  for (const Degree& degree : degrees) {
    if (accelerators % degree.value != 0) mended = degree;
  }
  const double others = product / mended.value;
  const auto divides = [&](std::int64_t value) {
    const double ranks = others * static_cast<double>(value);
    const bool can_split = mended.field != "tensor_parallel" ||
                           input.model.model.tensor_limits.front().size % value == 0;
    return can_split && ranks <= accelerators &&
           accelerators % static_cast<std::int64_t>(ranks) == 0;
  };
  input.diagnostics.add(
      strategy_problem(input, mended.field,
                       fmt::format("{} do not divide the cluster's {} accelerators",
                                   product_text(degrees, product), accelerators),
                       "", nearest_help(mended.value, accelerators, divides)));
}

}  // namespace

void check_ranks(const StrategyToCheck& input) {
  constexpr std::string_view kDegrees[] = {"tensor_parallel", "context_parallel",
                                           "pipeline_parallel", "data_parallel"};
  if (!input.accelerators || !input.sound(kDegrees)) return;
  const Strategy& strategy = input.strategy;
  const std::array model_degrees = {Degree{"tensor_parallel", strategy.tensor_parallel},
                                    Degree{"context_parallel", strategy.context_parallel},
                                    Degree{"pipeline_parallel", strategy.pipeline_parallel}};
  std::vector<Degree> degrees;
  double product = 1.0;  // of degrees that may be anything
  for (const Degree& degree : model_degrees) {
    if (degree.value == 1) continue;
    degrees.push_back(degree);
    product *= degree.value;
  }
  const int accelerators = *input.accelerators;
  const bool divides = product <= accelerators && accelerators % static_cast<int>(product) == 0;
  if (!input.object.member("data_parallel")) {
    if (!divides) report_indivisible(input, degrees, product, accelerators);
    return;
  }
  degrees.push_back({"data_parallel", strategy.data_parallel});
  if (product * strategy.data_parallel == accelerators) return;
  const std::string help =
      divides ? fmt::format(
                    "set data_parallel to {}, or leave it out: it is what the other "
                    "degrees leave of the cluster",
                    accelerators / static_cast<int>(product))
              : fmt::format("use degrees whose product is {}", accelerators);
  input.diagnostics.add(
      strategy_problem(input, "data_parallel",
                       fmt::format("{}, but the cluster has {} accelerator{}",
                                   product_text(degrees, product * strategy.data_parallel),
                                   accelerators, accelerators == 1 ? "" : "s"),
                       "", help));
}

}  // namespace headway
