#include "sim/launch/reading/torchtitan_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/letter_case.h"
#include "sim/base/parse_number.h"
#include "sim/base/utf8.h"
#include "sim/launch/reading/torchtitan_settings.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr const char* kStages = "parallelism.pipeline_parallel_degree";
constexpr const char* kSchedule = "parallelism.pipeline_parallel_schedule";
constexpr const char* kEach = "parallelism.pipeline_parallel_layers_per_stage";
constexpr const char* kSplits = "parallelism.pipeline_parallel_split_points";
constexpr const char* kFirstLess = "parallelism.pipeline_parallel_first_stage_less_layers";
constexpr const char* kLastLess = "parallelism.pipeline_parallel_last_stage_less_layers";

/// Its schedules, whose names it takes in capitals or not.
struct TorchtitanSchedule {
  std::string_view name;
  std::string_view older = {};    ///< name in early releases
  std::string_view nearest = {};  ///< in the place of one that is not modelled
};
constexpr std::string_view kBreadthFirst = "LoopedBFS";
constexpr TorchtitanSchedule kSchedules[] = {
    {.name = "1F1B"},
    {.name = "GPipe"},
    {.name = "Interleaved1F1B", .older = "interleaved_1f1b"},
    {.name = kBreadthFirst, .older = "looped_bfs"},
    {.name = "ZBVZeroBubble"},
    {.name = "InterleavedZeroBubble", .nearest = "Interleaved1F1B"},
    {.name = "DualPipeV", .nearest = "ZBVZeroBubble"}};
constexpr std::string_view kOfOnePart[] = {"1F1B", "GPipe"};

class PipelineReader {
 public:
  PipelineReader(const GivenSettings& settings, double layers, Diagnostics& diagnostics)
      : settings_(settings),
        diagnostics_(diagnostics),
        layers_(layers),
        stages_(torchtitan_degree(settings, kStages)) {}

  void read(json& said) const {
    const std::string schedule = settings_.value(kSchedule);
    if (schedule == kBreadthFirst) said["schedule"] = "breadth_first";
    if (!said.contains("schedule")) {
      tell(Severity::error, kSchedule, fmt::format("{} is not modelled", in_quotes(schedule)),
           "1F1B, Interleaved1F1B, GPipe, LoopedBFS and ZBVZeroBubble are");
      return;
    }
    const bool is_of_one = std::ranges::find(kOfOnePart, schedule) != std::end(kOfOnePart);
    double parts = is_of_one ? stages_ : 2.0 * stages_;
    const double ends = less_layers();
    const auto each = settings_.number(kEach);
    if (each && *each >= 1.0 && layers_ > 0.0) parts = std::ceil((layers_ + ends) / *each);
    if (const GivenSetting* const splits = settings_.find(kSplits)) {
      const std::vector<std::int64_t> layers = layers_between(*splits);
      said["layers_per_stage"] = layers;
      parts = static_cast<double>(layers.size());
    }
    const double chunks = parts / stages_;
    if (parts < 1.0 || chunks != std::floor(chunks)) {
      const bool is_split = settings_.has(kSplits);
      tell(Severity::error, is_split ? kSplits : kEach,
           parts < 1.0 ? fmt::format("{} splits no {:g} layers",
                                     in_quotes(settings_.value(kSplits)), layers_)
                       : fmt::format("makes {:g} parts of {:g} layers, which {:g} stages do not "
                                     "share evenly",
                                     parts, layers_, stages_),
           is_split ? "such as \"layers.8,layers.16\"" : "");
    } else if ((chunks > 1.0) == is_of_one) {
      tell(Severity::error, kSchedule,
           fmt::format("{:g} parts of the model on each stage are not for {}", chunks, schedule));
    }
    if (chunks > 1.0) said["virtual_stages"] = static_cast<std::int64_t>(chunks);
  }

 private:
  void tell(Severity severity, const char* name, const std::string& message,
            std::string help = "") const {
    const GivenSetting* setting = settings_.find(name);
    const bool is_said = setting != nullptr && !setting->place.file.empty();
    if (!is_said) setting = settings_.find(kStages);
    diagnostics_.add({.severity = severity,
                      .message = fmt::format("{}: {}", name, message),
                      .location = setting == nullptr ? SourceLocation{} : setting->place,
                      .help = std::move(help)});
  }

  /// Layers that the first and the last stage have less, as torchtitan counts what else they hold.
  [[nodiscard]] double less_layers() const {
    const double first = std::max(settings_.number(kFirstLess).value_or(1.0), 0.0);
    const double last = std::max(settings_.number(kLastLess).value_or(1.0), 0.0);
    if (first != last || first > 1.0) {
      tell(Severity::warning, settings_.has(kFirstLess) ? kFirstLess : kLastLess,
           "a layer less on the first and the last stage is predicted");
    }
    return first + last;
  }

  /// "layers.8, layers.16" as how many layers stand before, between and behind; empty if it is
  /// none.
  [[nodiscard]] std::vector<std::int64_t> layers_between(const GivenSetting& splits) const {
    std::vector<std::int64_t> parts;
    std::int64_t before = 0;
    constexpr std::string_view kLayer = "layers.";
    for (const std::string& split : members_of(splits)) {
      const auto layer = split.starts_with(kLayer)
                             ? parse_number<std::int64_t>(split.substr(kLayer.size()))
                             : std::nullopt;
      if (!layer || *layer < before || static_cast<double>(*layer) > layers_) return {};
      parts.push_back(*layer - before);
      before = *layer;
    }
    parts.push_back(static_cast<std::int64_t>(layers_) - before);
    return parts;
  }

  const GivenSettings& settings_;
  Diagnostics& diagnostics_;
  double layers_;
  double stages_;
};

}  // namespace

double torchtitan_degree(const GivenSettings& settings, const std::string& name) {
  const auto number = settings.number(name);
  return number ? std::clamp(std::floor(*number), 1.0, 1e9) : 1.0;
}

void settle_torchtitan_schedule(GivenSettings& settings, Diagnostics& diagnostics) {
  const GivenSetting* const given = settings.find(kSchedule);
  if (given == nullptr) return;
  const SourceLocation place = given->place;
  const std::string name = lower_case(settings.value(kSchedule));
  for (const TorchtitanSchedule& schedule : kSchedules) {
    if (name != lower_case(schedule.name) && name != schedule.older) continue;
    if (torchtitan_degree(settings, kStages) > 1.0 && !schedule.nearest.empty()) {
      diagnostics.add({.severity = Severity::warning,
                       .message = fmt::format("{}: {} is not modelled; {} is predicted", kSchedule,
                                              schedule.name, schedule.nearest),
                       .location = place});
    }
    settings.give({kSchedule,
                   {std::string(schedule.nearest.empty() ? schedule.name : schedule.nearest)},
                   place});
    return;
  }
}

void settle_torchtitan_pipeline(const GivenSettings& settings, double layers, json& said,
                                std::set<std::string>& used, Diagnostics& diagnostics) {
  for (const char* name : {kSchedule, kEach, kSplits, kFirstLess, kLastLess}) used.insert(name);
  PipelineReader(settings, layers, diagnostics).read(said);
}

}  // namespace headway
