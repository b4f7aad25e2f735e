// Waiting of workers by how far they may be ahead, and bytes of keys that need not travel.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/predict/staleness/bounded_staleness.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// The jitter at which workers in step wait for such a share of their time.
Jitter jitter_of(int workers, double idle) {
  constexpr double kLeast = 1e-3;
  constexpr double kMost = 3.0;
  const double spread = where_it_is(idle, kLeast, kMost, [&](double sigma) {
    return idle_share({.workers = workers, .jitter = {.spread = sigma}});
  });
  return {.spread = spread};
}

SyncOutcome predict_delay(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto workers = number_before(row.set_up, "workers");
  const std::string delays = text_between(row.metric, "delay", ";");
  const auto in_step = value_at(row, 0);
  const auto delayed = value_at(row, 1);
  const auto bound = number_after(delays, "and");
  if (!workers || !in_step || !delayed || !bound) {
    return refused("the row does not say workers, and waiting at two delays");
  }
  const Jitter jitter = jitter_of(static_cast<int>(*workers), *in_step / 100.0);
  SyncOutcome outcome;
  outcome.assumed = {
      fmt::format("lognormal steps of sigma {:.2f}, at which workers in step wait "
                  "{:g} % of the time; nothing to send",
                  jitter.spread, *in_step)};
  const BoundedStaleness ahead{
      .workers = static_cast<int>(*workers), .bound = static_cast<int>(*bound), .jitter = jitter};
  outcome.values = {{.what = fmt::format("idle at delay {:g}", *bound),
                     .published = *delayed / 100.0,
                     .predicted = idle_share(ahead),
                     .is_share = true}};
  return outcome;
}

/// Types that keys and values are of.
struct NumberType {
  std::string_view words;
  double bytes;
};
constexpr std::array kNumberTypes = {NumberType{"int64", 8.0},  NumberType{"uint64", 8.0},
                                     NumberType{"double", 8.0}, NumberType{"int32", 4.0},
                                     NumberType{"float", 4.0},  NumberType{"half", 2.0}};

/// "int64 keys, double values": servers that know a worker's keys are sent values alone.
SyncOutcome predict_cached_keys(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const std::size_t keys = row.set_up.find(" keys");
  const std::size_t values = row.set_up.find(" values");
  const auto type_before = [&](std::size_t at) -> const NumberType* {
    if (at == std::string::npos) return nullptr;
    const std::size_t begin = row.set_up.find_last_of(" ,;", at - 1);
    return named_in(kNumberTypes, row.set_up.substr(begin + 1, at - begin - 1));
  };
  const NumberType* const key = type_before(keys);
  const NumberType* const value = type_before(values);
  std::optional<double> saved = value_at(row, 0);
  const bool is_text = row.value->is_array() && !row.value->empty() && row.value->at(0).is_string();
  if (is_text) saved = number_before(row.value->at(0).get<std::string>(), "%");
  if (key == nullptr || value == nullptr || !saved) {
    return refused("the row does not say how many bytes keys and values have, and what is saved");
  }
  SyncOutcome outcome;
  outcome.assumed = {"every key is cached; nothing is made smaller otherwise"};
  outcome.values = {{.what = "traffic saved",
                     .published = *saved / 100.0,
                     .predicted = key->bytes / (key->bytes + value->bytes),
                     .is_share = true}};
  return outcome;
}

SyncOutcome predict_served(const SyncQuestion& question) {
  const bool is_of_keys = question.row.metric.find("keys") != std::string::npos;
  return is_of_keys ? predict_cached_keys(question) : predict_delay(question);
}

}  // namespace

SyncKind parameter_server_rows() {
  return {.name = "parameter servers",
          .about = "waiting of workers by how far they may be ahead, and what cached keys save",
          .takes = [](const SyncRow& row) { return row.kind == "parameter_server"; },
          .predict = predict_served};
}

}  // namespace headway
