#include "sim/scenario/read_perturbations.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "sim/files/json_objects.h"
#include "sim/scenario/read_slowdowns.h"

namespace headway {
namespace {

constexpr double kLargestSpread = 1.0;  // sigma of a logarithm: beyond this nothing is nominal
constexpr double kLargestFactor = 1000.0;
constexpr double kMostAccelerators = 1 << 30;

constexpr std::array<std::pair<std::string_view, Jitter::Kind>, 4> kJitters{{
    {"lognormal", Jitter::Kind::lognormal},
    {"gamma", Jitter::Kind::gamma},
    {"exponential", Jitter::Kind::exponential},
    {"quantiles", Jitter::Kind::quantiles},
}};

Jitter read_jitter(ObjectReader& reader) {
  Jitter jitter;
  jitter.kind = reader.choice<Jitter::Kind>("distribution", kJitters);
  if (jitter.kind != Jitter::Kind::quantiles) {
    jitter.spread = reader.number("spread", between(0.0, kLargestSpread));
    return jitter;
  }
  nlohmann::json resolved = nlohmann::json::array();
  for (const JsonCursor& element : reader.elements("time_factors")) {
    resolved.push_back(element.value());
    const double factor = element.value().is_number() ? element.value().get<double>() : 0.0;
    const bool descends = !jitter.quantiles.empty() && factor < jitter.quantiles.back();
    if (factor <= 0.0 || factor > kLargestFactor || descends) {
      reader.diagnostics().add(element.problem(
          "time factors are numbers from above 0 to 1000 in ascending order", "this one is not"));
    }
    jitter.quantiles.push_back(factor);
  }
  if (jitter.quantiles.size() < 2) {
    reader.report("time_factors", "quantiles take at least two time factors", "",
                  R"(write "time_factors": [0.98, 1.0, 1.05], the least, the median, the most)");
  }
  reader.resolve("time_factors", resolved);
  return jitter;
}

class PerturbationReader {
 public:
  PerturbationReader(const JsonCursor& part, Diagnostics& diagnostics, const Cluster* cluster)
      : reader_(part, diagnostics), diagnostics_(diagnostics), cluster_(cluster) {}

  Perturbation read(Perturbation perturbation) {
    perturbation.device_spread =
        reader_.number("device_spread", between(0.0, kLargestSpread), perturbation.device_spread);
    perturbation.jitter.spread = reader_.number("operation_spread", between(0.0, kLargestSpread),
                                                perturbation.jitter.spread);
    if (const auto part = reader_.part("operation_jitter")) {
      if (reader_.has("operation_spread")) {
        reader_.report("operation_jitter", "operation_spread says how operations differ already",
                       "", "leave one of the two out");
      }
      ObjectReader jitter(*part, diagnostics_);
      perturbation.jitter = read_jitter(jitter);
      reader_.resolve("operation_jitter", jitter.finish());
      is_own_jitter_ = true;
    }
    if (const auto part = reader_.part("micro_batch_jitter")) {
      ObjectReader jitter(*part, diagnostics_);
      perturbation.micro_batches = read_jitter(jitter);
      reader_.resolve("micro_batch_jitter", jitter.finish());
    }
    read_slow("slow_accelerators", "accelerator", 1, perturbation);
    read_slow("slow_nodes", "node", cluster_ != nullptr ? cluster_->node_type.accelerators : 1,
              perturbation);
    const SlowdownReader slowdowns(cluster_, diagnostics_);
    perturbation.slow_episodes = slowdowns.slow_episodes(reader_);
    perturbation.pauses = slowdowns.pauses(reader_);
    perturbation.link_episodes = slowdowns.link_episodes(reader_);
    perturbation.background = slowdowns.background(reader_);
    return perturbation;
  }

  [[nodiscard]] nlohmann::json resolved() {
    nlohmann::json resolved = reader_.finish();
    if (is_own_jitter_) resolved.erase("operation_spread");
    return resolved;
  }

 private:
  /// Reads [{`what`: 3, "time_factor": 1.5}]; each of them is `size` accelerators.
  void read_slow(const std::string& list, const std::string& what, int size,
                 Perturbation& perturbation) {
    const double count = cluster_ != nullptr ? cluster_->accelerators() / size : kMostAccelerators;
    read_objects(reader_, list, [&](ObjectReader& entry) {
      const auto index = static_cast<int>(entry.integer(what, between(0.0, count - 1.0)));
      const double factor =
          entry.number("time_factor", {.least = 1.0 / kLargestFactor, .most = kLargestFactor});
      for (int i = index * size; i < (index + 1) * size; ++i) {
        const bool is_new = perturbation.slow_accelerators.emplace(i, factor).second;
        if (is_new || diagnostics_.has_errors()) continue;
        entry.report(what, fmt::format("accelerator {} is listed twice", i));
      }
    });
  }

  ObjectReader reader_;
  Diagnostics& diagnostics_;
  const Cluster* cluster_;
  bool is_own_jitter_ = false;
};

}  // namespace

Perturbation read_perturbations(ObjectReader& scenario, const Profile* profile,
                                const Cluster* cluster) {
  Perturbation perturbation;
  if (profile != nullptr) {
    perturbation.device_spread = profile->variation.device_speed.value;
    perturbation.jitter.spread = profile->variation.operation_time.value;
  }
  const auto nothing = JsonDocument::parse("perturbations", "{}", scenario.diagnostics());
  const std::optional<JsonCursor> part = scenario.part("perturbations");
  PerturbationReader reader(part.value_or(JsonCursor(nothing)), scenario.diagnostics(), cluster);
  perturbation = reader.read(std::move(perturbation));
  scenario.resolve("perturbations", reader.resolved());
  return perturbation;
}

}  // namespace headway
