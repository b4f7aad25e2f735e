#include "sim/scenario/read_anchors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace headway {
namespace {

/// Each of them is simulated, and the second of a software already says little new.
constexpr std::size_t kMostAnchors = 32;

/// What is known of one step that was measured. Nothing if there are errors.
std::optional<Anchor> read_anchor(const JsonCursor& part, const Cluster* cluster, InputFiles& files,
                                  const MeasuredScenario& read, nlohmann::json& resolved) {
  ObjectReader reader(part, files.diagnostics());
  Anchor anchor;
  anchor.measured = reader.quantity<Seconds>("measured_iteration_time", positive());
  if (const auto of = reader.part("scenario")) {
    const std::optional<JsonCursor> root = files.follow(*of, "scenarios");
    if (root && root->is_object() && root->value().contains("anchor")) {
      reader.report("scenario", "what was measured has no anchor itself", "this one has",
                    "name a scenario without \"anchor\"");
    } else if (root) {
      if (auto measured = read(*root)) {
        const std::string ran_on = measured->cluster->accelerator_names();
        if (cluster != nullptr && ran_on != cluster->accelerator_names()) {
          reader.report("scenario", "an anchor tells of the accelerators it was measured on only",
                        fmt::format("measured on {}, to be applied to {}", ran_on,
                                    cluster->accelerator_names()));
        }
        reader.resolve("scenario", measured->resolved);
        anchor.of = std::make_shared<const Scenario>(std::move(*measured));
      }
    }
  }
  resolved = reader.finish();
  return files.diagnostics().has_errors() ? std::nullopt : std::optional(anchor);
}

}  // namespace

std::vector<Anchor> read_anchors(ObjectReader& scenario, const Cluster* cluster, InputFiles& files,
                                 const MeasuredScenario& read) {
  const auto part = scenario.part("anchor");
  if (!part) return {};
  const bool is_list = part->is_array();
  const std::size_t count = is_list ? part->value().size() : 1;
  if (count == 0) {
    scenario.report("anchor", "an empty list anchors nothing", "", "leave \"anchor\" out");
    return {};
  }
  if (count > kMostAnchors) {
    scenario.report("anchor", fmt::format("at most {} measured steps are applied", kMostAnchors),
                    fmt::format("{} are listed", count));
    return {};
  }
  std::vector<Anchor> anchors;
  nlohmann::json resolved = nlohmann::json::array();
  for (std::size_t i = 0; i < count; ++i) {
    nlohmann::json one;
    const auto anchor = read_anchor(is_list ? part->element(i) : *part, cluster, files, read, one);
    resolved.push_back(std::move(one));
    if (anchor) anchors.push_back(*anchor);
  }
  const bool is_of_itself =
      std::ranges::any_of(anchors, [](const Anchor& anchor) { return anchor.of == nullptr; });
  if (is_of_itself && anchors.size() > 1) {
    scenario.report("anchor", "a step of this very scenario leaves nothing to learn from others",
                    fmt::format("{} measured steps", anchors.size()),
                    "keep that one, or name the \"scenario\" of each");
  }
  scenario.resolve("anchor", is_list ? std::move(resolved) : std::move(resolved.front()));
  return anchors;
}

}  // namespace headway
