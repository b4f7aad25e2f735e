#include "sim/study/read_perturbations.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace headway {
namespace {

constexpr double kLargestSpread = 1.0;  // sigma of a logarithm: beyond this nothing is nominal
constexpr double kLargestFactor = 1000.0;
constexpr double kMostAccelerators = 1 << 30;

class PerturbationReader {
 public:
  PerturbationReader(const JsonCursor& part, Diagnostics& diagnostics, const Cluster* cluster)
      : reader_(part, diagnostics), diagnostics_(diagnostics), cluster_(cluster) {}

  Perturbation read(Perturbation perturbation) {
    perturbation.device_spread =
        reader_.number("device_spread", between(0.0, kLargestSpread), perturbation.device_spread);
    perturbation.operation_spread = reader_.number("operation_spread", between(0.0, kLargestSpread),
                                                   perturbation.operation_spread);
    read_slow("slow_accelerators", "accelerator", 1, perturbation);
    read_slow("slow_nodes", "node", cluster_ != nullptr ? cluster_->node_type.accelerators : 1,
              perturbation);
    return perturbation;
  }

  [[nodiscard]] nlohmann::json resolved() { return reader_.finish(); }

 private:
  /// Reads [{`what`: 3, "time_factor": 1.5}]; each of them is `size` accelerators.
  void read_slow(const std::string& list, const std::string& what, int size,
                 Perturbation& perturbation) {
    const double count = cluster_ != nullptr ? cluster_->accelerators() / size : kMostAccelerators;
    nlohmann::json resolved = nlohmann::json::array();
    for (const JsonCursor& element : reader_.elements(list)) {
      ObjectReader entry(element, diagnostics_);
      const auto index = static_cast<int>(entry.integer(what, between(0.0, count - 1.0)));
      const double factor =
          entry.number("time_factor", {.least = 1.0 / kLargestFactor, .most = kLargestFactor});
      for (int i = index * size; i < (index + 1) * size; ++i) {
        const bool is_new = perturbation.slow_accelerators.emplace(i, factor).second;
        if (is_new || diagnostics_.has_errors()) continue;
        entry.report(what, fmt::format("accelerator {} is listed twice", i));
      }
      resolved.push_back(entry.finish());
    }
    reader_.resolve(list, resolved);
  }

  ObjectReader reader_;
  Diagnostics& diagnostics_;
  const Cluster* cluster_;
};

}  // namespace

Perturbation read_perturbations(ObjectReader& scenario, const Profile* profile,
                                const Cluster* cluster) {
  Perturbation perturbation;
  if (profile != nullptr) {
    perturbation.device_spread = profile->variation.device_speed.value;
    perturbation.operation_spread = profile->variation.operation_time.value;
  }
  const auto nothing = JsonDocument::parse("perturbations", "{}", scenario.diagnostics());
  const std::optional<JsonCursor> part = scenario.part("perturbations");
  PerturbationReader reader(part.value_or(JsonCursor(nothing)), scenario.diagnostics(), cluster);
  perturbation = reader.read(std::move(perturbation));
  scenario.resolve("perturbations", reader.resolved());
  return perturbation;
}

}  // namespace headway
