#include "calibrate/suite/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "calibrate/suite/attention_points.h"
#include "calibrate/suite/training_points.h"

namespace headway {
namespace {

constexpr std::array kLayouts = {GemmLayout::nn, GemmLayout::nt, GemmLayout::tn};
constexpr std::array kCollectives = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                     CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                                     CollectiveKind::all_to_all,     CollectiveKind::send_receive};

/// In the quick plan every other value, both ends kept.
std::vector<double> thinned(const std::vector<double>& values, bool quick) {
  if (!quick || values.size() < 4) return values;
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); i += 2) kept.push_back(values[i]);
  if (kept.back() != values.back()) kept.push_back(values.back());
  return kept;
}

bool is_computed(const Offer& offer, const GemmPoint& gemm) {
  return std::find(offer.precisions.begin(), offer.precisions.end(), gemm.precision) !=
         offer.precisions.end();
}

double bytes_of(const AttentionShape& shape) {
  // Queries, results and their gradients of all heads, keys and values and theirs of the heads of
  // keys, in 2 bytes; the gradient of the queries once more in 4.
  return shape.sequences * shape.query_length * shape.head_size *
         (12.0 * shape.query_heads + 8.0 * shape.key_heads);
}

/// Half of the memory is left to the pools that operands are taken from, and to libraries.
bool fits(const Offer& offer, const GemmPoint& gemm) {
  const auto& [m, n, k] = gemm.shape;
  const double bytes = bytes_per_element(gemm.precision);
  return (m * k + k * n) * bytes + m * n * std::max(bytes, 2.0) <= offer.memory_bytes / 2.0;
}

/// The shapes of linear layers: forward and the gradient of the input have the batch in m, that of
/// the weights has it in k.
std::vector<Point> gemm_points(const Offer& offer, const PlanRules& rules) {
  std::vector<Point> points;
  std::set<std::tuple<Precision, double, double, double, GemmLayout>> seen;
  const auto add = [&points, &seen](const GemmPoint& point) {
    const auto& [m, n, k] = point.shape;
    if (seen.emplace(point.precision, m, n, k, point.layout).second) points.emplace_back(point);
  };
  const auto batches = thinned(offer.gemm_batch, rules.quick);
  const auto widths = thinned(offer.gemm_width, rules.quick);
  for (const Precision precision : offer.precisions) {
    for (const double batch : batches) {
      for (const double in : widths) {
        for (const double out : widths) {
          if (2.0 * batch * in * out > offer.most_gemm_flops) continue;
          for (const GemmLayout layout : kLayouts) {
            add({{batch, out, in}, precision, layout});
            add({{in, out, batch}, precision, layout});
          }
        }
      }
    }
  }
  for (const GemmPoint& shape : rules.shapes) {
    if (!is_computed(offer, shape) || !fits(offer, shape)) continue;
    for (const GemmLayout layout : kLayouts) add({shape.shape, shape.precision, layout});
  }
  return points;
}

/// Products of heads, then fused attention: the grid's and the shapes asked for.
std::vector<Point> attention_section(const Offer& offer, const PlanRules& rules) {
  std::vector<Point> points(offer.attention.begin(), offer.attention.end());
  if (!offer.fused_attention) return points;
  auto fused = fused_attention_points(*offer.fused_attention, offer.most_gemm_flops, rules.quick);
  for (const AttentionShape& shape : rules.attention) {
    if (bytes_of(shape) > offer.memory_bytes / 2.0) continue;
    const bool is_known = std::any_of(fused.begin(), fused.end(),
                                      [&shape](const auto& point) { return point.shape == shape; });
    if (is_known) continue;
    for (const Pass pass : {Pass::forward, Pass::backward}) fused.push_back({shape, pass});
  }
  points.insert(points.end(), fused.begin(), fused.end());
  return points;
}

std::vector<Point> memory_points(const Offer& offer, bool quick, bool optimizer) {
  std::vector<Point> points;
  for (const MemoryKernel kernel : offer.memory_kernels) {
    if ((kernel == MemoryKernel::adam) != optimizer) continue;
    // A block a row: only many rows fill a device, as the positions of a micro-batch do.
    const std::size_t least =
        kernel == MemoryKernel::vocabulary_loss ? offer.most_elements / 2 : offer.least_elements;
    for (std::size_t n = least; n <= offer.most_elements; n *= quick ? 4 : 2) {
      if (n % whole_elements(kernel) != 0) continue;
      points.emplace_back(MemoryPoint{kernel, n});
    }
  }
  return points;
}

/// Powers of two, and the middle of each octave in the full plan.
std::vector<std::size_t> message_sizes(const Offer& offer, bool quick) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = offer.least_message; size <= offer.most_message; size *= 2) {
    sizes.push_back(size);
    if (!quick && size / 2 * 3 <= offer.most_message) sizes.push_back(size / 2 * 3);
  }
  return sizes;
}

constexpr std::string_view kCollectiveSection = "collectives";
constexpr std::string_view kAttentionSection = "attention";
constexpr std::string_view kTrainingSection = "training";
constexpr std::string_view kConcurrentSection = "concurrent";

/// Only an all-reduce has more than one algorithm worth knowing.
std::vector<Point> collective_points(const Offer& offer, const PlanRules& rules) {
  const bool quick = rules.quick;
  std::vector<Point> points;
  for (const CollectiveKind kind : kCollectives) {
    if (!is_wanted(rules, kCollectiveSection) && !is_wanted(rules, collective_name(kind))) continue;
    for (const std::string& implementation : offer.collective_implementations) {
      const bool is_first = implementation == offer.collective_implementations.front();
      if (!is_first && (quick || kind != CollectiveKind::all_reduce)) continue;
      const auto most = offer.most_ranks.find(implementation);
      for (const int ranks : offer.ranks) {
        if (most != offer.most_ranks.end() && ranks > most->second) continue;
        for (const std::size_t size : message_sizes(offer, quick)) {
          points.emplace_back(CollectivePoint{kind, implementation, size, ranks});
        }
      }
    }
  }
  return points;
}

void append(std::vector<Section>& plan, Section section) {
  if (!section.points.empty()) plan.push_back(std::move(section));
}

}  // namespace

bool is_wanted(const PlanRules& rules, std::string_view part) {
  return rules.only.empty() ||
         std::find(rules.only.begin(), rules.only.end(), part) != rules.only.end();
}

std::vector<std::string_view> plan_part_names() {
  std::vector<std::string_view> names = {kTrainingSection,   kAttentionSection, "memory",
                                         "launch",           "copies",          kConcurrentSection,
                                         kCollectiveSection, kSustainedPart};
  for (const CollectiveKind kind : kCollectives) names.push_back(collective_name(kind));
  return names;
}

std::vector<std::string> left_out_shapes(const Offer& offer, const PlanRules& rules) {
  std::map<Precision, int> unknown;
  int too_large = 0;
  for (const GemmPoint& shape : rules.shapes) {
    if (!is_computed(offer, shape)) {
      ++unknown[shape.precision];
    } else if (!fits(offer, shape)) {
      ++too_large;
    }
  }
  std::vector<std::string> reasons;
  for (const auto& [precision, count] : unknown) {
    reasons.push_back(fmt::format("{} of the products asked for: {} does not compute in {}", count,
                                  offer.device, word_of(precision)));
  }
  if (too_large > 0) {
    reasons.push_back(fmt::format(
        "{} of the products asked for: they fill more than half of the memory", too_large));
  }
  if (rules.attention.empty()) return reasons;
  if (!offer.fused_attention) {
    reasons.push_back("fused attention asked for: " + offer.no_fused_attention);
    return reasons;
  }
  const auto large = std::count_if(
      rules.attention.begin(), rules.attention.end(),
      [&offer](const AttentionShape& shape) { return bytes_of(shape) > offer.memory_bytes / 2.0; });
  if (large > 0) {
    reasons.push_back(fmt::format(
        "{} of the shapes of attention asked for: they fill more than half of the memory", large));
  }
  return reasons;
}

std::vector<Section> calibration_plan(const Offer& offer, const PlanRules& rules) {
  const StopRule compute{.budget = rules.quick ? 25.0_ms : 80.0_ms};
  const StopRule shared{.least = 7, .budget = rules.quick ? 60.0_ms : 200.0_ms};
  std::vector<Section> plan;
  append(plan, {"gemm", gemm_points(offer, rules), compute});
  if (is_wanted(rules, kTrainingSection)) {
    append(plan, {std::string(kTrainingSection),
                  training_points(offer,
                                  {thinned(offer.gemm_batch, rules.quick),
                                   thinned(offer.gemm_width, rules.quick)},
                                  rules.quick),
                  compute});
  }
  if (is_wanted(rules, kAttentionSection)) {
    append(plan, {std::string(kAttentionSection), attention_section(offer, rules), compute});
  }
  if (is_wanted(rules, "memory")) {
    append(plan, {"memory", memory_points(offer, rules.quick, false), compute});
    // A sample may include a wait of many times what it measures.
    const StopRule waiting{.budget = 10.0 * compute.budget};
    append(plan, {"optimizer", memory_points(offer, rules.quick, true), waiting});
  }
  if (offer.launches && is_wanted(rules, "launch")) {
    append(plan, {"launch", {LaunchPoint{false}, LaunchPoint{true}}, compute});
  }
  std::vector<Point> copies;
  for (const CopyKind kind : offer.copies) {
    if (!is_wanted(rules, "copies")) break;
    for (std::size_t bytes = 1U << 12U; bytes <= 1U << 28U; bytes *= rules.quick ? 16 : 4) {
      copies.emplace_back(CopyPoint{kind, bytes});
    }
  }
  append(plan, {"copies", std::move(copies), compute});
  if (is_wanted(rules, kConcurrentSection)) {
    const auto& concurrent = offer.concurrent;
    append(plan,
           {std::string(kConcurrentSection), {concurrent.begin(), concurrent.end()}, compute});
  }
  append(plan, {std::string(kCollectiveSection), collective_points(offer, rules), shared});
  return plan;
}

}  // namespace headway
