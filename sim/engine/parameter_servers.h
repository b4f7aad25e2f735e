#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// The servers of a workload at run time. Each takes pushes in the order in which they arrive, one
/// at a time. Between a rank group and a server there is one connection each way, on which messages
/// follow one another; connections share links like any flows.
class ParameterServers {
 public:
  /// What it asks of the executor. A message is known by its number here.
  struct Outside {
    /// `sent` is when it was put on its connection, which is free from `now` on.
    std::function<void(std::int32_t plan, double bytes, std::int32_t message, double sent,
                       double now)>
        carry;
    std::function<void(double when, std::int32_t server)> wake;
    /// The last answer to what a group pushed from this message slot is there.
    std::function<void(std::int32_t group, std::int32_t slot, double now)> answered;
  };

  /// `workload` and `timeline` outlive this object.
  ParameterServers(const Workload& workload, Timeline& timeline, Outside outside);

  /// Before anything runs: all but the slowest groups are ahead as far as they may be, as they will
  /// be in the end where these are slower for good, be it by ever so little.
  void use_up_lead(const std::vector<bool>& is_slowest);

  void push(std::int32_t group, const Operation& operation, double now);
  /// Whether all answers to what was pushed from the slot are there.
  [[nodiscard]] bool is_answered(std::int32_t group, std::int32_t slot) const;
  /// The round that all answers since the last call allow the group to begin.
  [[nodiscard]] std::int32_t next_round(std::int32_t group);

  /// A message that was to be carried is there.
  void arrived(std::int32_t message, double now);
  /// A server is done with what it was at.
  void done(std::int32_t server, double now);

 private:
  static constexpr std::int32_t kNone = -1;

  struct Message {
    std::int32_t server = kNone;
    std::int32_t group = kNone;
    std::int32_t key = kNone;
    std::int32_t slot = kNone;
    std::int32_t round = 0;  ///< of a push: that it is for; of an answer: that may begin
    bool is_answer = false;
    double sent = 0.0;          ///< when it was put on its connection
    double begun = 0.0;         ///< when that was its own
    std::int32_t next = kNone;  ///< on its connection
  };
  struct KeyState {
    std::int32_t updates = 0;
    std::int32_t added_up = 0;               ///< pushes of this round
    std::vector<std::int32_t> waiting = {};  ///< pushes that are not answered yet
    std::vector<std::int32_t> updates_read;  ///< by group, when it was answered last
    std::vector<std::int32_t> pushes;        ///< by group
  };
  struct ServerState {
    std::deque<std::int32_t> queue;
    std::int32_t current = kNone;
    std::vector<KeyState> keys;
  };

  [[nodiscard]] std::int32_t added(const Message& message);
  /// What was sent last on its connection, while it is on its way.
  [[nodiscard]] std::int32_t& last_sent(const Message& message);
  void send(std::int32_t message, double now);
  void depart(std::int32_t message, double now);
  void begin_next(std::int32_t server, double now);
  void end_round_if_full(KeyState& key, double now);
  void answer_who_may_go_on(KeyState& key, double now);
  void answer(std::int32_t push, std::int32_t round, double now);

  const Workload& workload_;
  Timeline& timeline_;
  Outside outside_;
  std::vector<Message> messages_;
  std::vector<std::int32_t> free_;
  std::vector<std::int32_t> last_sent_;  ///< by server, group, and here or back
  std::vector<ServerState> servers_;
  std::vector<std::vector<std::int32_t>> awaited_;  ///< answers, by group and message slot
  std::vector<std::int32_t> allowed_;               ///< round, by group
};

}  // namespace headway
