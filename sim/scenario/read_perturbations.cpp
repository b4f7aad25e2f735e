#include "sim/scenario/read_perturbations.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "sim/files/json_objects.h"
#include "sim/scenario/read_slowdowns.h"

namespace headway {
namespace {

constexpr double kLargestSpread = 1.0;  // sigma of a logarithm: beyond this nothing is nominal
constexpr double kLargestFactor = 1000.0;

constexpr Word<Jitter::Kind> kDistributions[] = {{"lognormal", Jitter::Kind::lognormal},
                                                 {"gamma", Jitter::Kind::gamma},
                                                 {"exponential", Jitter::Kind::exponential},
                                                 {"quantiles", Jitter::Kind::quantiles}};

bool has_quantiles(const Jitter& jitter) { return jitter.kind == Jitter::Kind::quantiles; }

/// Ascending quantiles.
FieldMember<Jitter> time_factors() {
  return {.type = array_type(number_type({}), "numbers"),
          .read = [](ObjectReader& reader, std::string_view key, bool, Jitter& jitter) {
            jitter.quantiles.clear();
            for (const JsonCursor& element : reader.elements(key)) {
              const double factor =
                  element.value().is_number() ? element.value().get<double>() : 0.0;
              const bool descends = !jitter.quantiles.empty() && factor < jitter.quantiles.back();
              if (factor <= 0.0 || factor > kLargestFactor || descends) {
                reader.diagnostics().add(element.problem(
                    "time factors are numbers from above 0 to 1000 in ascending order",
                    "this one is not", "write [0.98, 1, 1.05]"));
              }
              jitter.quantiles.push_back(factor);
            }
            if (jitter.quantiles.size() < 2) {
              reader.report(
                  key, "quantiles take at least two time factors", "",
                  R"(write "time_factors": [0.98, 1.0, 1.05], the least, the median, the most)");
            }
          }};
}

const FieldTable<Jitter>& jitter_fields() {
  static const FieldTable<Jitter> kFields(
      {{"distribution", word(&Jitter::kind, kDistributions).required(),
        R"(Of the factor on a time: lognormal with median 1, gamma with mean 1, 1 plus an exponential
variable, or as observed.)"},
       {"spread",
        number(&Jitter::spread, between(0.0, kLargestSpread))
            .required()
            .only_where([](const Jitter& jitter) { return !has_quantiles(jitter); },
                        {"distribution", "other than quantiles"}),
        R"(Sigma of the logarithm (lognormal), coefficient of variation (gamma), mean of what is added
(exponential).
default: required, but for quantiles)"},
       {"time_factors", time_factors().only_where(has_quantiles, {"distribution", "\"quantiles\""}),
        R"(The distribution's quantiles at equal steps from the least to the most.
default: required for quantiles)"}});
  return kFields;
}

/// An object that is read where it is given.
FieldMember<Perturbation> jitter(Jitter Perturbation::*member) {
  const FieldMember<Perturbation> given = part(member, jitter_fields);
  return {.type = given.type,
          .read =
              [=](ObjectReader& reader, std::string_view key, bool, Perturbation& object) {
                if (!reader.has(key)) return;
                object.*member = {};
                given.read(reader, key, true, object);
              },
          .children = given.children};
}

struct SlowFields {
  std::int32_t index = 0;
  double time_factor = 1.0;
};

/// [{`what`: 3, "time_factor": 1.5}]; each of them is `size` accelerators.
FieldMember<Perturbation> slow(std::string_view what, int size, const Cluster* cluster) {
  const double count = (cluster != nullptr ? cluster->accelerators() : kMostNamed) / size;
  return entries<Perturbation>(
      FieldTable<SlowFields>(
          {{what, whole(&SlowFields::index, between(0.0, count - 1.0)).required(),
            R"(Which one, counted through the cluster.
limits: none twice)"},
           {"time_factor",
            number(&SlowFields::time_factor, between(1.0 / kLargestFactor, kLargestFactor))
                .required(),
            "What compute times are multiplied by: 1.5 is 1.5 times slower. Launches, and what the "
            "host does while the accelerator waits for it, take as long as before."}}),
      [what, size](ObjectReader& reader, const SlowFields& entry, Perturbation& perturbation) {
        for (int i = entry.index * size; i < (entry.index + 1) * size; ++i) {
          const bool is_new = perturbation.slow_accelerators.emplace(i, entry.time_factor).second;
          if (is_new || reader.diagnostics().has_errors()) continue;
          reader.report(what, fmt::format("accelerator {} is listed twice", i), "",
                        "leave one of the two out");
        }
      });
}

}  // namespace

FieldTable<Perturbation> perturbation_fields(const Cluster* cluster) {
  const int of_node = cluster != nullptr ? cluster->node_type.accelerators : 1;
  std::vector<Field<Perturbation>> rows{
      {"device_spread", number(&Perturbation::device_spread, between(0.0, kLargestSpread)),
       R"(How much accelerators differ in speed, fixed over the run. Sigma of the logarithm of each
one's time factor; 0 makes all equal.
see: Sinha et al. 2022 (arXiv:2208.11035) measure the variation between GPUs of a cluster
default: the profile's variation.device_speed)"},
      {"operation_spread",
       within(&Perturbation::jitter, number(&Jitter::spread, between(0.0, kLargestSpread))),
       R"(How much repetitions of one block differ on one accelerator. Sigma of the logarithm, drawn
anew for each execution.
default: the profile's variation.operation_time)"},
      {"operation_jitter", jitter(&Perturbation::jitter),
       R"(How repetitions of one block differ, by another distribution than the lognormal one. Ranks
of a tensor-parallel group wait for the unluckiest among them.
limits: instead of operation_spread
default: operation_spread)"},
      {"micro_batch_jitter", jitter(&Perturbation::micro_batches),
       R"(How the work of micro-batches differs, as with sequences of different lengths packed into
them: one draw for each micro-batch of each replica, for all its passes on all stages. Quantiles are
mean squares of the lengths in a micro-batch over that of all, where attention is what counts.
see: Lin et al. 2025 (arXiv:2505.05713), section 5.3: sequence length imbalance)"},
      {"slow_accelerators", slow("accelerator", 1, cluster),
       R"(Accelerators that are slower (or faster) by a known factor: what one straggler costs.
default: [])"},
      {"slow_nodes", slow("node", of_node, cluster),
       R"(The same for all accelerators of a node.
limits: none of its accelerators in slow_accelerators
see: simulate --what-if
default: [])"}};
  std::ranges::move(slowdown_rows(cluster), std::back_inserter(rows));
  return FieldTable<Perturbation>(std::move(rows));
}

Perturbation read_perturbations(ObjectReader& scenario, const Profile* profile,
                                const Cluster* cluster) {
  Perturbation perturbation;
  if (profile != nullptr) {
    perturbation.device_spread = profile->variation.device_speed.value;
    perturbation.jitter.spread = profile->variation.operation_time.value;
  }
  const auto nothing = JsonDocument::parse("perturbations", "{}", scenario.diagnostics());
  ObjectReader reader(scenario.part("perturbations").value_or(JsonCursor(nothing)),
                      scenario.diagnostics());
  const bool has_jitter = reader.has("operation_jitter");
  if (has_jitter && reader.has("operation_spread")) {
    reader.report("operation_jitter", "operation_spread says how operations differ already", "",
                  "leave one of the two out");
  }
  // Fields that name parts of a cluster are lists. Few scenarios have any, and a sweep reads many.
  static const FieldTable<Perturbation> kOfAnyCluster = perturbation_fields();
  const bool names_parts =
      reader.cursor().is_object() &&
      std::ranges::any_of(reader.cursor().value(),
                          [](const nlohmann::json& field) { return field.is_array(); });
  if (names_parts) {
    perturbation_fields(cluster).read(reader, perturbation);
  } else {
    kOfAnyCluster.read(reader, perturbation);
  }
  nlohmann::json resolved = reader.finish();
  if (has_jitter) resolved.erase("operation_spread");
  scenario.resolve("perturbations", std::move(resolved));
  return perturbation;
}

}  // namespace headway
