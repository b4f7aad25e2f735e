#include "calibrate/output/build_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "calibrate/block/block_cost.h"
#include "calibrate/measure/statistics.h"
#include "calibrate/output/clocks.h"
#include "calibrate/output/collective_fit.h"
#include "calibrate/output/device_costs.h"
#include "calibrate/output/estimates.h"
#include "calibrate/output/interference.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"

namespace headway {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  return texts.empty() ? "none" : join_words(texts, "; ");
}

/// `known`: rate of a rank's link, 0 where nobody knows it.
ScopeCosts measured_scope(const std::vector<MeasuredCollective>& curves, const LinkFit& fit,
                          double known) {
  const double doubt = std::max(0.02, fit.residual.median);
  ScopeCosts scope;
  scope.bandwidth_efficiency =
      known > 0.0 && std::isfinite(fit.bytes_per_s)
          ? estimate(std::min(1.0, fit.bytes_per_s / known), doubt,
                     "measured: rate fitted to all collectives over the link's own")
          : estimate(1.0, doubt,
                     "by definition: give the links of the topology the rate that the provenance "
                     "names");
  const std::string source = "measured: fitted to all collectives";
  scope.latency = estimate(fit.latency, std::max(0.1, doubt), source);
  scope.overhead = estimate(fit.overhead, std::max(0.1, doubt), source);
  scope.collectives = curves;
  for (MeasuredCollective& collective : scope.collectives) {
    collective.curve.spread = rounded(collective.curve.spread, 3);
    for (auto& point : collective.curve.points) point.time = Seconds(rounded(point.time.count()));
  }
  return scope;
}

/// A scope that was not measured. Latencies as far apart as shared memory and a network's are
/// covered by no one number; the spread says so.
ScopeCosts assumed_scope(const char* which) {
  const std::string why = fmt::format("no collective was measured {}", which);
  ScopeCosts scope;
  scope.bandwidth_efficiency = assumed(0.75, 0.3, why);
  scope.latency = assumed(1e-5, 1.0, why);
  scope.overhead = assumed(1e-5, 1.0, why);
  return scope;
}

/// Groups that stay on a node tell about the links inside, larger ones about the network.
void add_collectives(CalibratedProfile& result, DeviceFindings& found,
                     const Calibration& calibration) {
  const Offer& offer = calibration.offer;
  Profile& profile = result.profile;
  profile.scale_up = assumed_scope("inside a node");
  profile.scale_out = assumed_scope("between nodes");
  if (offer.collective_implementations.empty()) return;
  std::vector<MeasuredCollective> inside;
  std::vector<MeasuredCollective> between;
  for (MeasuredCollective& curve :
       collective_curves(calibration.points, offer.collective_implementations.front())) {
    (curve.ranks <= offer.ranks_per_node ? inside : between).push_back(std::move(curve));
  }
  std::vector<std::string> rates;
  const auto add = [&](ScopeCosts& scope, const std::vector<MeasuredCollective>& curves,
                       const char* name) {
    const auto link = fitted_link(curves);
    if (!link) return;
    const bool is_inside = &curves == &inside;
    const double known = is_inside && offer.node_link_bytes_per_s > 0.0
                             ? offer.node_link_bytes_per_s
                             : offer.link_bytes_per_s;
    scope = measured_scope(curves, *link, known);
    if (is_inside && offer.node_link_bytes_per_s > 0.0) {
      scope.measured_bandwidth = BytesPerSecond(offer.node_link_bytes_per_s);
    }
    if (offer.link_burst_bytes > 0.0) scope.burst = Bytes(offer.link_burst_bytes);
    found.residuals.push_back(fmt::format("collectives {}: {}", name, error_text(link->residual)));
    if (link->held_out_ranks) {
      found.held_out.push_back(fmt::format("largest group from the smaller {}: {}", name,
                                           error_text(*link->held_out_ranks)));
    }
    rates.push_back(
        offer.link_bytes_per_s > 0.0
            ? fmt::format("{} {}, as set", name, exact_text(BytesPerSecond(offer.link_bytes_per_s)))
            : fmt::format("{} {}, fitted", name, short_text(BytesPerSecond(link->bytes_per_s))));
    const auto& sizes = curves.front().curve.points;
    found.ranges.push_back(fmt::format("messages {} {} to {}", name, short_text(sizes.front().size),
                                       short_text(sizes.back().size)));
  };
  add(profile.scale_up, inside, "inside a node");
  add(profile.scale_out, between, "between nodes");
  if (!rates.empty()) result.provenance["link_rate"] = joined(rates);
}

Variation variation(const Calibration& calibration) {
  std::vector<double> devices;
  std::vector<double> samples;
  for (const MeasuredPoint& point : calibration.points) {
    if (!std::holds_alternative<GemmPoint>(point.point)) continue;
    devices.push_back(point.device_spread);
    samples.push_back(1.4826 * point.measured.mad);
  }
  Variation result;
  result.device_speed =
      calibration.offer.devices > 1 && !devices.empty()
          ? estimate(median(devices), 0.5, "measured: products on all devices at once")
          : assumed(0.01, 0.5, "one device was measured, which differs from no other");
  result.operation_time = estimate(median(samples), 0.3, "measured: repetitions of one product");
  if (const auto& jitter = calibration.jitter) {
    // 1.4826 MAD is the sigma of a normal distribution.
    result.operation_time =
        estimate(1.4826 * median_absolute_deviation(jitter->over_median), 0.1,
                 fmt::format("measured: one product for {:.0f} s", jitter->time.count()));
  }
  return result;
}

/// What layers with experts cost besides their products, which nothing here measures.
ExpertCosts with_assumed_exchanges(ExpertCosts costs) {
  const std::string why = "of layers with experts only the products were measured";
  costs.permutation_bytes = assumed(8.0, 0.5, why);
  costs.exchange_scale_up = assumed(0.5, 0.5, why);
  costs.exchange_scale_out = assumed(0.6, 0.5, why);
  costs.exchange_overhead = assumed(2e-5, 1.0, why);
  costs.exchange_seen = assumed(0.8, 0.3, why);
  costs.exchange_seen_overlapped = assumed(0.3, 0.5, why);
  costs.layer_gap = assumed(6e-5, 1.0, why);
  costs.host_per_layer = assumed(2e-4, 1.0, why);
  return costs;
}

/// All-reduces of other implementations than the profile's: a line each implementation and group.
std::string other_all_reduces(const Calibration& calibration) {
  std::vector<std::string> lines;
  const auto& implementations = calibration.offer.collective_implementations;
  for (std::size_t i = 1; i < implementations.size(); ++i) {
    for (const MeasuredCollective& curve :
         collective_curves(calibration.points, implementations[i])) {
      std::vector<std::string> times;
      for (const MeasuredCurve::Point& point : curve.curve.points) {
        times.push_back(short_text(point.size) + " " + short_text(point.time));
      }
      lines.push_back(
          fmt::format("{} among {}: {}", implementations[i], curve.ranks, join_words(times, ", ")));
    }
  }
  return join_words(lines, "; ");
}

/// What collectives and compute beside each other cost; most of it nobody measured.
OverlapCosts overlap_costs(const std::vector<Slowdown>& slowed) {
  const std::string why = "overlap was not measured";
  OverlapCosts overlap;
  overlap.tensor_parallel_overlapped = assumed(0.3, 0.5, why);
  overlap.context_parallel_floor = assumed(0.1, 1.0, why);
  overlap.gradient_reduce_floor = assumed(0.1, 1.0, why);
  const auto share = interference(slowed);
  // Copies by few blocks wait for whole products on a device, as collectives that run for a layer's
  // length do not: they tell what to expect where nobody published anything.
  overlap.sharded_interference =
      !share ? assumed(0.1, 1.0, why)
      : hold_collectives(slowed)
          ? estimate(share->value, share->spread,
                     "measured: products and collectives beside each other")
          : assumed(share->value, share->spread,
                    "as products and copies by few blocks beside each other");
  return overlap;
}

/// Without passes between the clock is lower than in training, which is between the two.
Estimate sustained_estimate(const SustainedRun& run, const std::vector<MeasuredPoint>& points) {
  const double rate = sustained_rate(run, points);
  return estimate(rate, run.has_passes() ? 0.02 : std::max(0.01, (1.0 - rate) / 2.0),
                  fmt::format("measured: {} for {:.0f} s {} over large products among others",
                              point_text(run.product), run.time.count(),
                              run.has_passes() ? "with passes between" : "without a pause"));
}

}  // namespace

CalibratedProfile built_profile(const Calibration& calibration, const std::string& name) {
  const Offer& offer = calibration.offer;
  DeviceFindings found = device_findings(calibration);
  CalibratedProfile result;
  Profile& profile = result.profile;
  profile.name = name;
  profile.accelerator = offer.accelerator;
  profile.kind = "measured";
  profile.device = std::move(found.costs);
  profile.kernel_families["measured"] = found.family;

  add_collectives(result, found, calibration);
  const auto slowed = slowdowns(calibration.points);
  profile.overlap = overlap_costs(slowed);
  if (!slowed.empty()) result.provenance["slowdowns"] = slowdowns_text(slowed);
  profile.variation = variation(calibration);

  if (found.experts) profile.experts = with_assumed_exchanges(*found.experts);

  const std::string others = other_all_reduces(calibration);
  if (!others.empty()) {
    result.provenance["other_all_reduces"] =
        "not used as costs; a library is a black box: " + others;
  }

  if (const auto& run = calibration.sustained) {
    profile.device.sustained_rate = sustained_estimate(*run, calibration.points);
    result.provenance["sustained"] = sustained_text(*run);
  }
  if (calibration.jitter) result.provenance["jitter"] = jitter_text(*calibration.jitter);
  if (const auto& block = calibration.block) {
    result.provenance["transformer_block"] =
        block_text(*block, block_cost(profile, block->shape, block->precision));
  }
  const std::string clocks = clocks_text(calibration.points);
  if (!clocks.empty()) result.provenance["clocks"] = clocks;
  const Quality all = quality(calibration.points);
  for (const auto& [key, text] : offer.provenance) result.provenance[key] = text;
  result.provenance["device"] = offer.device;
  result.provenance["verdict"] = verdict(calibration);
  result.provenance["samples"] = fmt::format(
      "{}, of which {} contaminated ({:.1f} % of a point's in the mean); passes differ by {:.1f} % "
      "in the median",
      all.samples, all.contaminated, 100.0 * all.contaminated_share, 100.0 * all.pass_spread);
  result.provenance["fit_residuals"] = joined(found.residuals);
  result.provenance["held_out_errors"] = joined(found.held_out);
  result.provenance["ranges"] = joined(found.ranges);
  if (!calibration.refused.empty()) {
    result.provenance["refused"] = joined(refused_texts(calibration.refused));
  }
  result.provenance["not_measured"] = joined(calibration.missing);
  return result;
}

}  // namespace headway
