// What averages over the internet leave of the time at work.
#include <fmt/format.h>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

SyncOutcome predict_volunteers(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto billions = number_before(row.set_up, "B parameters");
  const auto steps = number_before(row.set_up, "inner steps");
  const auto minutes = number_before(row.set_up, "min;");
  const auto bits = number_after(row.set_up, "int");
  const auto nodes = number_after(row.set_up, "up to");
  const auto baseline = number_after(row.set_up, "baseline MFU");
  const auto mfu = value_at(row, 0);
  const auto average = value_at(row, 1);
  const auto utilisation = value_at(row, 2);
  if (!billions || !steps || !minutes || !bits || !nodes || !average || !utilisation) {
    return refused("the row does not say what an average moves and how long steps take");
  }
  const double period = 60.0 * *minutes;
  const IslandsOfOne job{.islands = static_cast<int>(*nodes),
                         .parameters = *billions * 1e9,
                         .step_s = period / *steps,
                         .every = static_cast<int>(*steps),
                         .bits = *bits};
  const BytesPerSecond link = link_for_step(job, (period + *average) / *steps);
  const double at_work = job.step_s / step_of_islands(job, link);
  SyncOutcome outcome;
  outcome.assumed = {
      fmt::format("links of {:.2f} Gb/s between {} nodes, at which an average takes "
                  "{:g} s",
                  link.count() * 8.0 / 1e9, job.islands, *average)};
  outcome.values = {{.what = "utilisation",
                     .published = *utilisation / 100.0,
                     .predicted = at_work,
                     .is_share = true}};
  if (mfu && baseline) {
    outcome.values.push_back({.what = "MFU",
                              .published = *mfu / 100.0,
                              .predicted = *baseline / 100.0 * at_work,
                              .is_share = true});
  }
  return outcome;
}

}  // namespace

SyncKind volunteer_rows() {
  return {.name = "local steps, internet",
          .about = "what averages over the internet leave of the time at work",
          .takes =
              [](const SyncRow& row) {
                return row.kind == "diloco" && row.set_up.find("inner steps") != std::string::npos;
              },
          .predict = predict_volunteers};
}

}  // namespace headway
