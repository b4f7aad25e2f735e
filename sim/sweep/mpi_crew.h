#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/child_process.h"

namespace headway {

/// The processes that `mpirun` or `srun` started together: the first hands out tasks one by one,
/// the others do them, whoever is free the next. The only place that knows of MPI.
///
/// One object in a process, and no other use of MPI beside it. Every process of a crew has to make
/// one, and the end of the leader's sends the others home.
class MpiCrew {
 public:
  /// Whether this process was started as one of several, as the environment tells.
  [[nodiscard]] static bool is_called_for();

  /// Throws EnvironmentError where Headway was built without MPI.
  MpiCrew();
  ~MpiCrew();
  MpiCrew(const MpiCrew&) = delete;
  MpiCrew& operator=(const MpiCrew&) = delete;

  [[nodiscard]] bool leads() const;

  /// For the leader: has `count` tasks done and hears of each by its number, as
  /// `run_each_in_children` does. Whoever does one is told what `text` says of it.
  void lead(std::size_t count, const std::function<std::string(std::size_t)>& text,
            const std::function<void(std::size_t, ChildOutcome&)>& finished);

  /// For the others: does what the leader hands out, each task in a child of its own, until there
  /// is no more.
  void follow(const std::function<std::string(const std::string& text)>& task);

 private:
  std::vector<int> idle_;  ///< followers that wait for a task, of which there was none left
};

}  // namespace headway
