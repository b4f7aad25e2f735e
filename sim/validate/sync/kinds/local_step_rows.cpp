// What link between sites local steps need for a share of time at work.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

constexpr std::string_view kUtilisationPrefix = "diloco-cu-";
constexpr double kSentBits = 16.0;
/// A layer's average begins when its last backward pass is over: two thirds of a step (backward
/// passes take twice as long as forward passes).
constexpr double kBackwardShare = 2.0 / 3.0;
/// Below so many steps there is a step's backward pass to hide in every few, and layers overlap.
constexpr int kSeldom = 50;

/// Charles et al. 2025, "Scaling Laws for DiLoCo", table 6, tries links of 10^(-1 + 4 k / 49)
/// Gbit/s (every value of it is one of these, in a few digits) and prints the slowest that
/// suffices.
double tried_link(double k) { return std::pow(10.0, 4.0 * k / 49.0 - 1.0); }
double place_among_tried(double rate) { return (std::log10(rate) + 1.0) * 49.0 / 4.0; }
double slowest_tried(double needed) {
  return tried_link(std::max(0.0, std::ceil(place_among_tried(needed))));
}
/// What was needed where `rate` sufficed and the next slower link did not: as likely anywhere
/// between them.
double likely_needed(double rate) { return tried_link(std::round(place_among_tried(rate)) - 0.5); }

struct UtilisationRow {
  IslandsOfOne job;
  std::string model;
  bool of_a_grid = false;            ///< links were tried one by one, not solved for
  std::vector<double> utilisations;  ///< in %
};

/// "h50" and "dp" end the id; the rest stands in words.
std::optional<UtilisationRow> utilisation_row(const SyncRow& row) {
  const std::string how = parts_of(row.id, "-").back();
  const auto every = how == "dp" ? std::optional(1.0) : number_after(how, "h");
  const auto billions = number_before(row.set_up, "B,");
  const auto step = number_after(row.set_up, "step");
  if (!every || !billions || !step) return std::nullopt;
  UtilisationRow read{.job = {.parameters = *billions * 1e9,
                              .step_s = *step,
                              .every = static_cast<int>(*every),
                              .bits = kSentBits,
                              .overlap_steps = kBackwardShare},
                      .model = parts_of(row.set_up, ",").front(),
                      .of_a_grid = row.set_up.find("logarithmic grid") != std::string::npos};
  const std::string shares = text_between(row.metric, "utilisation", "%");
  for (const std::string& share : parts_of(shares, ",")) {
    if (const auto number = number_after(share, "")) read.utilisations.push_back(*number);
  }
  return read;
}

/// In Gbit/s, with 16 bits of every parameter on the wire.
double needed_link(const IslandsOfOne& job, double utilisation) {
  return link_for_step(job, job.step_s * 100.0 / utilisation).count() * 8.0 / 1e9;
}

/// The bits of a parameter that the rows of one model speak of: rates are in proportion to them.
struct SentBits {
  double factor = 1.0;
  std::string model;
};
SentBits fitted_bits(std::span<const SyncRow> known) {
  SentBits fitted;
  double logs = 0.0;
  int cells = 0;
  for (const SyncRow& row : known) {
    if (!row.id.starts_with(kUtilisationPrefix)) continue;
    const auto read = utilisation_row(row);
    if (!read || read->job.every < kSeldom) continue;
    if (fitted.model.empty()) fitted.model = read->model;
    if (read->model != fitted.model) continue;
    for (std::size_t i = 0; i < read->utilisations.size(); ++i) {
      const auto published = value_at(row, i);
      if (!published) continue;
      const double needed = read->of_a_grid ? likely_needed(*published) : *published;
      logs += std::log(needed / needed_link(read->job, read->utilisations[i]));
      ++cells;
    }
  }
  if (cells > 0) fitted.factor = std::exp(logs / cells);
  return fitted;
}

SyncOutcome predict_utilisation(const SyncQuestion& question) {
  const auto read = utilisation_row(question.row);
  if (!read) return refused("the row does not say parameters, step and steps between averages");
  const SentBits bits = fitted_bits(question.known);
  SyncOutcome outcome;
  outcome.assumed = {
      fmt::format("{:.1f} bits of a parameter on the wire, fitted to the rows of {} with averages "
                  "every {} steps or more",
                  kSentBits * bits.factor, bits.model, kSeldom),
      "two sites; layers are averaged as soon as their last backward pass is over"};
  if (read->of_a_grid) {
    outcome.assumed.emplace_back("the slowest link that suffices of 50 from 0.1 to 1,000 Gbit/s");
  }
  for (std::size_t i = 0; i < read->utilisations.size(); ++i) {
    const auto published = value_at(question.row, i);
    if (!published) continue;  // "1000+"
    const double needed = bits.factor * needed_link(read->job, read->utilisations[i]);
    outcome.values.push_back({.what = fmt::format("Gbit/s for {:g} %", read->utilisations[i]),
                              .published = *published,
                              .predicted = read->of_a_grid ? slowest_tried(needed) : needed,
                              .ordered_with = "link of " + question.row.id});
  }
  return outcome;
}

}  // namespace

SyncKind local_step_rows() {
  return {.name = "local steps, link needed",
          .about = "the rate between sites at which so much of the time is spent at work",
          .takes = [](const SyncRow& row) { return row.id.starts_with(kUtilisationPrefix); },
          .predict = predict_utilisation};
}

}  // namespace headway
