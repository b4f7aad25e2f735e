#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/result/decision/objective.h"

namespace headway {

/// One of several jobs: what tells it from the others, and what it is judged by.
struct Candidate {
  std::vector<std::pair<std::string, std::string>> axes;  ///< name and value
  DecisionNumbers numbers;

  /// "gpus 64, pipeline_parallel 4"
  [[nodiscard]] std::string name() const;
};

/// Candidates, each made when it is asked for: of a million nobody holds more than one. They have
/// the same names of axes.
class Candidates {
 public:
  /// Those of a vector, which outlives this.
  Candidates(const std::vector<Candidate>& all);
  Candidates(std::size_t size, std::function<DecisionNumbers(std::size_t)> numbers,
             std::function<decltype(Candidate::axes)(std::size_t)> axes);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] DecisionNumbers numbers(std::size_t i) const { return numbers_(i); }
  [[nodiscard]] decltype(Candidate::axes) axes(std::size_t i) const { return axes_(i); }
  [[nodiscard]] Candidate operator[](std::size_t i) const { return {axes_(i), numbers_(i)}; }

 private:
  std::size_t size_;
  std::function<DecisionNumbers(std::size_t)> numbers_;
  std::function<decltype(Candidate::axes)(std::size_t)> axes_;
};

/// Which of them to take.
struct Choice {
  Objective objective = Objective::throughput;
  std::size_t judged = 0;                ///< those with a throughput
  std::optional<std::size_t> only_axis;  ///< index of the one that has several values, if one has
  std::size_t best = 0;                  ///< index; of equal ones the first
  std::vector<std::size_t> as_good;      ///< within 1 % of it, it too, in their order
  /// Where the one axis that varies counts what is paid for (GPUs, nodes, spare nodes): the one
  /// with fewest within 1 %, and within 0.1 %.
  std::optional<std::size_t> fewest;
  std::optional<std::size_t> fewest_of_closest = {};

  [[nodiscard]] std::size_t taken() const { return fewest.value_or(best); }
};

/// By the first objective that every job with a throughput has; nothing if none has any.
[[nodiscard]] std::optional<Choice> choice_of(const Candidates& candidates);

/// Those beside the throughput that some of them have a number of.
[[nodiscard]] std::vector<Objective> objectives_beside_throughput(
    const std::vector<Candidate>& candidates);

/// "The best goodput has /reliability/spare_nodes 18: 92.6 %. The fewest within 1 % of it: 12, with
/// 91.9 %; within 0.1 %: 15, with 92.6 %."
[[nodiscard]] std::string choice_text(const Choice& choice, const Candidates& candidates);

}  // namespace headway
