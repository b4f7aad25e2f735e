// What jobs read from storage whose data set does not fit in memory.
#include <fmt/format.h>

#include "sim/predict/input/page_cache.h"
#include "sim/validate/sync/sync_kind.h"

namespace headway {
namespace {

constexpr std::string_view kReadWords = "read from storage";

SyncOutcome predict_cached(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  auto fits = number_before(row.set_up, "% fits");
  if (!fits) fits = number_before(row.set_up, "% cache");
  const auto gibibytes = number_before(row.set_up, "GiB");
  if (!fits) return refused("the row does not say what share of the data set fits in memory");
  const double share = *fits / 100.0;
  const double alone = read_share({.cached_share = share});
  SyncOutcome outcome;
  outcome.assumed = {"pages are given up at random: no order of reading repeats itself"};
  if (const auto jobs = number_before(row.set_up, "single-GPU jobs")) {
    const auto together = value_at(row, 0);
    const auto one = value_at(row, 1);
    if (!together || !one || !gibibytes) return refused("the row does not say how much was read");
    const double many = read_share({.cached_share = share, .jobs = static_cast<int>(*jobs)});
    outcome.values = {{.what = fmt::format("GiB read by {:g} jobs", *jobs),
                       .published = *together,
                       .predicted = *jobs * *gibibytes * many,
                       .ordered_with = "GiB read"},
                      {.what = "GiB read by one",
                       .published = *one,
                       .predicted = *gibibytes * alone,
                       .ordered_with = "GiB read"}};
    return outcome;
  }
  const auto read = value_at(row, 0);
  if (!read) return refused("the row does not say how much was read");
  outcome.values = {
      {.what = "share read", .published = *read / 100.0, .predicted = alone, .is_share = true}};
  return outcome;
}

}  // namespace

SyncKind page_cache_rows() {
  return {.name = "input, page cache",
          .about = "what is read from storage where a data set does not fit in memory",
          .takes =
              [](const SyncRow& row) {
                return row.kind == "data_stall" && row.metric.find(kReadWords) != std::string::npos;
              },
          .predict = predict_cached};
}

}  // namespace headway
