#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/programs/cause.h"
#include "sim/programs/workload.h"

namespace headway {

/// What the engine did in a run. Counts tell of a regression on any machine.
struct EngineCounts {
  std::int64_t events = 0;      ///< that the executor handled
  std::int64_t flows = 0;       ///< that crossed the fabric
  std::int64_t settlings = 0;   ///< moments in which links were shared out anew
  std::int64_t recomputed = 0;  ///< flows in these, again in each round
  std::int64_t changed = 0;     ///< rates
};

/// When everything of a simulated iteration happened, in seconds from its start. Operation i of a
/// group lasts from the end of operation i - 1 (0 for the first) to its own end, waiting included;
/// what a run that ended early did not come to ends with it.
struct Timeline {
  struct Message {
    double sent = std::numeric_limits<double>::quiet_NaN();     ///< the send was reached
    double arrived = std::numeric_limits<double>::quiet_NaN();  ///< its last byte was there
  };
  struct Collective {
    double first_join = 0.0;
    double last_join = 0.0;
    double end = 0.0;
    std::int32_t last_group = -1;  ///< who joined last, and by which of its operations
    std::int32_t last_operation = -1;
    double amount = 0.0;  ///< bytes of the flow
  };

  /// A push that a server worked into its parameters by itself.
  struct Update {
    double time = 0.0;
    std::int32_t server = -1;
    std::int32_t key = -1;
    std::int32_t group = -1;
    std::int32_t staleness = 0;  ///< updates of the key since the group got it
  };
  /// What a server did until the end of the run.
  struct Served {
    double busy = 0.0;  ///< seconds
    std::int64_t taken = 0;
    std::int64_t dropped = 0;  ///< pushes of rounds that were over
  };

  double finish = 0.0;
  std::vector<std::int64_t> first_operation;  ///< by group, into operation_end; one more at the end
  std::vector<double> operation_end;
  std::vector<std::int64_t>
      first_message;  ///< by receiving group, into messages; one more at the end
  std::vector<Message> messages;
  std::vector<std::vector<Collective>> collectives;  ///< by communicator, in order
  std::vector<double> plan_bytes;                    ///< bytes of all flows of each plan
  std::vector<Update> updates;                       ///< in order of time
  std::vector<Served> served;                        ///< by server
  EngineCounts counts;
  /// Of workers that are not in step: where the time of the average one goes in an iteration.
  TimeByCause average_worker;

  [[nodiscard]] std::span<const double> ends_of(std::int32_t group) const {
    const auto i = static_cast<std::size_t>(group);
    return {operation_end.data() + first_operation[i],
            operation_end.data() + first_operation[i + 1]};
  }
  [[nodiscard]] std::span<const Message> messages_of(std::int32_t group) const {
    const auto i = static_cast<std::size_t>(group);
    return {messages.data() + first_message[i], messages.data() + first_message[i + 1]};
  }
};

}  // namespace headway
