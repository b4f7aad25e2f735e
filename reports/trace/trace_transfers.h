#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

[[nodiscard]] std::int64_t nanoseconds(double seconds);

/// "forward mb 3 chunk 1": what an operation is about, the chunk where a program has several.
[[nodiscard]] std::string pass_name(const std::string& block, const Operation& operation,
                                    bool has_chunks);
[[nodiscard]] bool has_chunks(const Program& program);

/// A message between two rank groups.
struct TracedTransfer {
  std::int32_t sender = -1;
  std::int32_t receiver = -1;
  std::int32_t slot = -1;                ///< of the receiver
  const Operation* operation = nullptr;  ///< the send
  std::string what;                      ///< "forward mb 3": of the computation before the send
  double sent = 0.0;
  double arrived = 0.0;
  std::int32_t consumer = -1;  ///< the receiver's computation after its receive, or -1
  /// Number of the arrow from the transfer to its consumer; only if both are to be drawn.
  std::optional<std::int64_t> flow;
};

/// Finds the messages of rank groups, and which of them get an arrow.
class TraceTransfers {
 public:
  /// `shown` are the groups of the trace. Everything given outlives this object.
  TraceTransfers(const Workload& workload, const Timeline& timeline,
                 const std::vector<std::int32_t>& shown);

  [[nodiscard]] std::vector<TracedTransfer> sent_by(std::int32_t group) const;
  [[nodiscard]] std::vector<TracedTransfer> received_by(std::int32_t group) const;

 private:
  struct Send {
    const Operation* operation = nullptr;
    std::string what;
  };
  struct ProgramTransfers {
    std::vector<Send> sends;
    std::vector<std::int32_t> peers;             ///< of all sends, each once
    std::vector<std::int32_t> consumer_of_slot;  ///< by message slot
  };

  [[nodiscard]] const ProgramTransfers& program_transfers(std::int32_t group) const;
  [[nodiscard]] TracedTransfer transfer(std::int32_t sender, const Send& send) const;

  const Workload& workload_;
  const Timeline& timeline_;
  std::vector<char> is_shown_;  ///< by group; not of bool, of which no reference exists
  std::vector<ProgramTransfers> by_program_;
};

}  // namespace headway
