#include "sim/replay/trace_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>

#include "sim/base/index.h"

namespace headway {
namespace {

using namespace trace_type;

/// A direction of the pipeline.
struct Direction {
  std::string_view compute;
  std::string_view send;
  std::string_view receive;
  int towards;  ///< by how many stages a send goes on
};
constexpr Direction kDirections[] = {{kForward, kForwardSend, kForwardReceive, 1},
                                     {kBackward, kBackwardSend, kBackwardReceive, -1}};

class GraphBuilder {
 public:
  GraphBuilder(const std::vector<TraceRow>& rows, const std::string& path, Diagnostics& diagnostics)
      : path_(path), diagnostics_(diagnostics) {
    const int step = std::ranges::min(rows, {}, &TraceRow::step).step;
    for (const TraceRow& row : rows) {
      graph_.stages = std::max(graph_.stages, row.stage + 1);
      chunks_ = std::max(chunks_, row.chunk + 1);
      if (row.step == step && row.replica == 0) rows_.push_back(row);
    }
    // A total order, so that the graph does not depend on that of the file.
    std::ranges::sort(rows_, [](const TraceRow& a, const TraceRow& b) {
      return std::tie(a.stage, a.start, a.sequence, a.type) <
             std::tie(b.stage, b.start, b.sequence, b.type);
    });
    for (const TraceRow& row : rows_) {
      graph_.operations.push_back(
          {.type = row.type, .sequence = row.sequence, .stage = row.stage, .after = {}});
    }
  }

  TraceGraph built() && {
    if (graph_.stages > std::ssize(rows_)) {
      report(fmt::format("stage {} is named, and the first step of replica 0 has {} operations",
                         graph_.stages - 1, rows_.size()));
      return std::move(graph_);
    }
    for (int stage = 0; stage < graph_.stages; ++stage) {
      chain(all(stage, {kForward, kBackward}));
      chain(all(stage, {kGather, kReduce}));
      for (const Direction& direction : kDirections) {
        chain(all(stage, {direction.send}));
        chain(all(stage, {direction.receive}));
        tie_to_compute(stage, direction);
      }
      delay_first_backward(stage);
      tie_gathers(stage);
      tie_the_end(stage);
    }
    for (const Direction& direction : kDirections) pair_up(direction);
    add_meetings();
    if (!diagnostics_.has_errors()) set_order();
    return std::move(graph_);
  }

 private:
  /// Operations of these types on a stage, in the order they started.
  [[nodiscard]] std::vector<int> all(int stage, std::initializer_list<std::string_view> types) {
    std::vector<int> found;
    const auto of_stage = std::ranges::equal_range(rows_, stage, {}, &TraceRow::stage);
    for (const TraceRow& row : of_stage) {
      if (std::ranges::find(types, row.type) == types.end()) continue;
      found.push_back(static_cast<int>(&row - rows_.data()));
    }
    return found;
  }

  void let_wait(int operation, int before) {
    at(graph_.operations, operation).after.push_back(before);
  }
  void chain(const std::vector<int>& operations) {
    for (std::size_t i = 1; i < operations.size(); ++i) let_wait(operations[i], operations[i - 1]);
  }
  void report(const std::string& message) {
    Diagnostic problem;
    problem.message = message;
    problem.location.file = path_;
    problem.help = "a trace has to hold every operation of a step";
    diagnostics_.add(std::move(problem));
  }

  /// By sequence number: the profiler's count is the order of micro-batches.
  [[nodiscard]] std::vector<int> in_sequence(int stage, std::string_view type) {
    std::vector<int> found = all(stage, {type});
    std::ranges::sort(found, {}, [&](int i) { return at(rows_, i).sequence; });
    return found;
  }

  void tie_to_compute(int stage, const Direction& direction) {
    const std::vector<int> compute = in_sequence(stage, direction.compute);
    const std::vector<int> sends = all(stage, {direction.send});
    const std::vector<int> receives = all(stage, {direction.receive});
    for (const auto* messages : {&sends, &receives}) {
      if (messages->empty() || messages->size() == compute.size()) continue;
      report(fmt::format("stage {} has {} {} for {} {}", stage, messages->size(),
                         at(rows_, messages->front()).type, compute.size(), direction.compute));
      return;
    }
    for (std::size_t i = 0; i < sends.size(); ++i) let_wait(sends[i], compute[i]);
    for (std::size_t i = 0; i < receives.size(); ++i) {
      let_wait(compute[i], receives[i]);
      if (i > 0) let_wait(receives[i], compute[i - 1]);
    }
    remember_chunks(sends, compute);
    remember_chunks(receives, compute);
  }
  void remember_chunks(const std::vector<int>& messages, const std::vector<int>& compute) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      chunk_of_message_[messages[i]] = at(rows_, compute[i]).model_chunk;
    }
  }

  /// With several chunks a stage the profiler also records what the model's ends do not send.
  [[nodiscard]] std::vector<int> real_messages(int stage, std::string_view type, int towards) {
    std::vector<int> real;
    for (const int message : all(stage, {type})) {
      const int other = chunk_of_message_[message] + towards;
      if (other >= 0 && other < std::int64_t{graph_.stages} * chunks_) {
        real.push_back(message);
      } else {
        meet({message}, false);
      }
    }
    return real;
  }

  void pair_up(const Direction& direction) {
    std::map<int, std::vector<int>> receives;
    for (int stage = 0; stage < graph_.stages; ++stage) {
      receives[stage] = real_messages(stage, direction.receive, -direction.towards);
    }
    for (int stage = 0; stage < graph_.stages; ++stage) {
      const int to = (stage + direction.towards + graph_.stages) % graph_.stages;
      const std::vector<int> sends = real_messages(stage, direction.send, direction.towards);
      if (sends.size() != receives[to].size()) {
        report(fmt::format("stage {} has {} {} and stage {} has {} {}", stage, sends.size(),
                           direction.send, to, receives[to].size(), direction.receive));
        continue;
      }
      for (std::size_t i = 0; i < sends.size(); ++i) meet({sends[i], receives[to][i]}, false);
    }
  }

  void delay_first_backward(int stage) {
    const std::vector<int> compute = all(stage, {kForward, kBackward});
    const auto first = std::ranges::find(
        compute, kBackward, [&](int i) { return std::string_view(at(rows_, i).type); });
    if (first == compute.end() || first - compute.begin() < 2) return;
    for (const std::string_view type : {kBackwardReceive, kBackwardSend}) {
      const std::vector<int> messages = in_sequence(stage, type);
      if (!messages.empty()) let_wait(messages.front(), *(first - 2));
    }
  }

  void tie_gathers(int stage) {
    std::map<int, int> last_gather;  // of each chunk
    for (const int gather : in_sequence(stage, kGather)) {
      last_gather[at(rows_, gather).chunk] = gather;
    }
    std::set<int> done;
    for (const int compute : all(stage, {kForward})) {
      const auto gather = last_gather.find(at(rows_, compute).chunk);
      if (gather == last_gather.end() || !done.insert(gather->first).second) continue;
      let_wait(compute, gather->second);
    }
  }

  void tie_the_end(int stage) {
    const std::vector<int> compute = all(stage, {kForward, kBackward});
    if (compute.empty()) {
      report(fmt::format("stage {} computes nothing", stage));
      return;
    }
    const int last = std::ranges::max(compute, {}, [&](int i) { return at(rows_, i).end(); });
    const std::vector<int> reduces = in_sequence(stage, kReduce);
    const std::vector<int> separate = all(stage, {kSeparateReduce});
    std::vector<int> end = {last};
    const auto then = [&](const std::vector<int>& operations) {
      end.insert(end.end(), operations.begin(), operations.end());
    };
    then(all(stage, {kGarbage}));
    then(all(stage, {kNormReduce}));
    if (!separate.empty()) tie_overlapped_reduces(stage, compute, reduces);
    then(all(stage, {kEmbeddingReduce}));
    then(separate.empty() ? reduces : separate);
    then(all(stage, {kClip}));
    then(all(stage, {kOptimizer}));
    chain(end);
  }

  /// Each chunk's gradients follow its last backward operation; what comes after the backward pass
  /// waits for the last of them.
  void tie_overlapped_reduces(int stage, const std::vector<int>& compute,
                              const std::vector<int>& reduces) {
    std::map<int, int> last_backward;  // of each chunk
    for (const int i : compute) {
      if (at(rows_, i).type != kBackward) continue;
      const auto [last, is_first] = last_backward.try_emplace(at(rows_, i).chunk, i);
      if (!is_first && at(rows_, i).end() > at(rows_, last->second).end()) last->second = i;
    }
    std::set<int> done;
    for (const int reduce : reduces) {
      const auto last = last_backward.find(at(rows_, reduce).chunk);
      if (!done.insert(at(rows_, reduce).chunk).second || last == last_backward.end()) continue;
      let_wait(reduce, last->second);
    }
    if (reduces.empty()) return;
    for (const int norm : all(stage, {kNormReduce})) let_wait(norm, reduces.back());
  }

  void meet(std::vector<int> members, bool across_replicas) {
    for (const int member : members) {
      at(graph_.operations, member).meeting = static_cast<int>(graph_.meetings.size());
    }
    graph_.meetings.push_back({std::move(members), across_replicas});
  }

  void add_meetings() {
    std::vector<int> clips;
    std::vector<int> embeddings;
    for (int i = 0; i < std::ssize(rows_); ++i) {
      const std::string_view type = at(rows_, i).type;
      if (type == kGather || type == kReduce || type == kSeparateReduce) meet({i}, true);
      if (type == kClip) clips.push_back(i);
      if (type == kEmbeddingReduce) embeddings.push_back(i);
    }
    if (!embeddings.empty()) meet(std::move(embeddings), false);
    if (!clips.empty()) meet(std::move(clips), true);
  }

  void set_order() {
    const int count = static_cast<int>(graph_.operations.size());
    const auto unit_of = [&](int operation) {
      const int meeting = at(graph_.operations, operation).meeting;
      return meeting < 0 ? operation : count + meeting;
    };
    const std::size_t units = graph_.operations.size() + graph_.meetings.size();
    std::vector<int> waits(units, 0);
    std::vector<std::vector<int>> next(units);
    std::set<int> exist;
    for (int i = 0; i < count; ++i) {
      exist.insert(unit_of(i));
      for (const int before : at(graph_.operations, i).after) {
        at(next, unit_of(before)).push_back(unit_of(i));
        ++at(waits, unit_of(i));
      }
    }
    std::deque<int> ready;
    for (const int unit : exist) {
      if (at(waits, unit) == 0) ready.push_back(unit);
    }
    while (!ready.empty()) {
      const int unit = ready.front();
      ready.pop_front();
      graph_.order.push_back(unit < count ? unit : -1 - (unit - count));
      for (const int after : at(next, unit)) {
        if (--at(waits, after) == 0) ready.push_back(after);
      }
    }
    if (graph_.order.size() != exist.size()) {
      report("operations of the trace wait for each other in a circle");
    }
  }

  const std::string& path_;
  Diagnostics& diagnostics_;
  TraceGraph graph_;
  std::vector<TraceRow> rows_;  ///< of the graph's operations
  std::map<int, int> chunk_of_message_;
  int chunks_ = 1;
};

}  // namespace

TraceGraph trace_graph(const std::vector<TraceRow>& rows, const std::string& path,
                       Diagnostics& diagnostics) {
  return GraphBuilder(rows, path, diagnostics).built();
}

}  // namespace headway
