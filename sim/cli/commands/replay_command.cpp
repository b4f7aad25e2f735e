#include "reports/answers/answers.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/outputs.h"
#include "sim/replay/replay.h"

namespace headway {
namespace {

int run_replay(const Invocation& invocation) {
  const std::string& trace = invocation.arguments.positional().front();
  Diagnostics diagnostics;
  const std::vector<OutputFile> files = answer_files(invocation.arguments, {trace}, diagnostics);
  diagnostics.throw_if_errors();
  const ReplayResult result = replay(trace);
  give(replay_answer(result), files, invocation);
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
      "of one data-parallel replica, stage or kind of operation after another taken away. TRACE "
      "is a table of comma-separated values, plain or gzipped, or - for standard input.";
  command.examples = {
      {"headway replay trace.csv.gz", "what stragglers cost, and who they were"},
      {"headway replay trace.csv -o stragglers.html", "the same as a page, step by step"},
  };
  command.options = with_standard_options({json_option(), output_option()});
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was replayed";
  command.details =
      "One row an operation: dp_rank, stage, rank, step, optype, start_ts and duration (seconds), "
      "seq_id (its number among operations of the type in the step), mc and gmc (model chunk on "
      "the stage and in the model, -1 for none). Types: forward-compute, backward-compute, "
      "forward-send, forward-recv, backward-send, backward-recv, params-all-gather, "
      "grads-reduce-scatter, separate-grads-all-reduce, layernorm-grads-all-reduce, "
      "embedding-grads-all-reduce, optimizer-clip-main-grad, optimizer, gc. Method: Lin et al. "
      "2025 (arXiv:2505.05713).";
  command.run = run_replay;
  return command;
}

}  // namespace headway
