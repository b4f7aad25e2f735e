#include "reports/answers/replay_report.h"

#include <nlohmann/json.hpp>
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/files/json_output.h"
#include "sim/replay/replay.h"

namespace headway {
namespace {

int run_replay(const Invocation& invocation) {
  const ReplayResult result = replay(invocation.arguments.positional().front());
  invocation.terminal.print(invocation.arguments.has("json")
                                ? json_document_text(replay_json(result))
                                : replay_text(result));
  return kExitDone;
}

}  // namespace

Command replay_command() {
  Command command;
  command.name = "replay";
  command.group = "Predict";
  command.arguments = "TRACE";
  command.summary = "a recorded run again, without its stragglers";
  command.about =
      "Runs the operations of a recorded training job again: as they were, and with the slowness "
      "of "
      "one data-parallel replica, stage or kind of operation after another taken away. TRACE is a "
      "table of comma-separated values, plain or gzipped, or - for standard input.";
  command.examples = {
      {"headway replay trace.csv.gz", "what stragglers cost, and who they were"},
      {"headway replay trace.csv --json", "the same step by step, for a program"},
  };
  command.options = with_standard_options({json_option()});
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was replayed";
  command.details =
      "One row an operation: dp_rank, stage, rank, step, optype, start_ts and duration (seconds), "
      "seq_id (its number among operations of the type in the step), mc and gmc (model chunk on "
      "the "
      "stage and in the model, -1 for none). Types: forward-compute, backward-compute, "
      "forward-send, forward-recv, backward-send, backward-recv, params-all-gather, "
      "grads-reduce-scatter, separate-grads-all-reduce, layernorm-grads-all-reduce, "
      "embedding-grads-all-reduce, optimizer-clip-main-grad, optimizer, gc. Method: Lin et al. "
      "2025 "
      "(arXiv:2505.05713).";
  command.run = run_replay;
  return command;
}

}  // namespace headway
