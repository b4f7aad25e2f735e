// Waiting of workers by how far they may be ahead, and bytes of keys that need not travel.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

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

struct NumberType {
  std::string_view words;
  double bytes;
};
constexpr std::array kKeyTypes = {NumberType{"int64 keys", 8.0}, NumberType{"int32 keys", 4.0}};
constexpr std::array kValueTypes = {NumberType{"double values", 8.0},
                                    NumberType{"float values", 4.0}};

/// A server that remembers the keys of a range gets the values of its pairs alone (Li et al. 2014,
/// section 3.2).
SyncOutcome predict_keys(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const NumberType* const key = named_in(kKeyTypes, row.set_up);
  const NumberType* const value = named_in(kValueTypes, row.set_up);
  const auto saved = row.value->is_array() && row.value->at(0).is_string()
                         ? number_before(row.value->at(0).get<std::string>(), "%")
                         : value_at(row, 0);
  if (key == nullptr || value == nullptr || !saved) {
    return refused("the row does not say the types of keys and values");
  }
  SyncOutcome outcome;
  outcome.assumed = {"every key is remembered; messages are nothing but pairs"};
  outcome.values = {{.what = "traffic that remembered keys save",
                     .published = *saved / 100.0,
                     .predicted = key->bytes / (key->bytes + value->bytes),
                     .is_share = true}};
  return outcome;
}

}  // namespace

SyncKind parameter_server_rows() {
  return {.name = "parameter servers",
          .about = "waiting of workers by how far they may be ahead, bytes of keys",
          .takes = [](const SyncRow& row) { return row.kind == "parameter_server"; },
          .predict =
              [](const SyncQuestion& question) {
                return question.row.metric.find("caching keys") != std::string::npos
                           ? predict_keys(question)
                           : predict_delay(question);
              }};
}

}  // namespace headway
