#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// What became of a task that ran in a child: its output, or why there is none.
struct ChildOutcome {
  enum class Status { done, input_error, environment_error, internal_error, died };
  Status status = Status::done;
  std::string output = {};                ///< if done
  std::string failure = {};               ///< otherwise, in words
  std::vector<Diagnostic> problems = {};  ///< of wrong input, where all of them are known
};

/// Whether a child takes one task after another or a new one is forked for each.
enum class ChildLife { many_tasks, one_task };

/// Runs tasks in forked children, at most `jobs` of them, each on a thread with a deep stack, and
/// returns what they returned, in the order of the tasks. Where a child takes many tasks, one finds
/// what earlier ones left in memory and must not depend on it. A task that throws or
/// kills its child harms neither the others nor this process: a new child takes what is left.
/// `finished` is called here after each task with its index and what became of it, which it may
/// take. Requires jobs >= 1 and that this process has a single thread.
[[nodiscard]] std::vector<ChildOutcome> run_in_children(
    const std::vector<std::function<std::string()>>& tasks, int jobs,
    const std::function<void(std::size_t, ChildOutcome&)>& finished = {},
    ChildLife life = ChildLife::many_tasks);

/// The same of `count` tasks told apart by their number, of which there may be very many: outcomes
/// are for `finished` alone.
void run_each_in_children(std::size_t count, const std::function<std::string(std::size_t)>& task,
                          int jobs, const std::function<void(std::size_t, ChildOutcome&)>& finished,
                          ChildLife life = ChildLife::many_tasks);

/// Whether this process is such a child: it has a deep stack, and its death is an outcome.
[[nodiscard]] bool in_child();

/// While it lives this process counts as such a child, and does itself what it would give to one:
/// for whoever has thousands of small simulations, each of which had better end well.
class AsChild {
 public:
  AsChild();
  ~AsChild();
  AsChild(const AsChild&) = delete;
  AsChild& operator=(const AsChild&) = delete;

 private:
  bool before_;
};

/// How many children this process has forked so far.
[[nodiscard]] long long children_forked();

/// A task throws this where what earlier tasks of its child left behind is in its way: it is done
/// again as the first one of another child.
struct FreshChildNeeded {};

/// The output of a task, or its failure as the exception that it was.
[[nodiscard]] std::string output_or_throw(ChildOutcome outcome);

}  // namespace headway
