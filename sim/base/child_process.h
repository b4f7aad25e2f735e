#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace headway {

/// What became of a task that ran in a child: its output, or why there is none.
struct ChildOutcome {
  enum class Status { done, environment_error, internal_error, died };
  Status status = Status::done;
  std::string output;   ///< if done
  std::string failure;  ///< otherwise, in words
};

/// Runs each task in a forked child of its own, at most `jobs` at a time, on a thread with a deep
/// stack, and returns what they returned, in the order of the tasks. A child that throws or is
/// killed harms neither the others nor this process. `finished` is called here after each task with
/// its index and what became of it, which it may take. Requires jobs >= 1 and that this process has
/// a single thread.
[[nodiscard]] std::vector<ChildOutcome> run_in_children(
    const std::vector<std::function<std::string()>>& tasks, int jobs,
    const std::function<void(std::size_t, ChildOutcome&)>& finished = {});

/// The output of a task, or its failure as the exception that it was.
[[nodiscard]] std::string output_or_throw(ChildOutcome outcome);

}  // namespace headway
