#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/costs/collective_cost.h"

namespace headway {

struct Strategy;
struct StrategyRule;
struct Synchronisation;
template <class Object>
struct Field;

/// Where servers stand.
enum class ServerHosts {
  beside,  ///< on nodes of the job, spread evenly
  apart    ///< on nodes of their own, those after the job's
};
template <>
inline constexpr Word<ServerHosts> kWords<ServerHosts>[] = {{"beside", ServerHosts::beside},
                                                            {"apart", ServerHosts::apart}};

/// Servers that replicas push to and pull from, and how they answer.
struct ServerPlan {
  int servers = 1;  ///< each has an equal part of every key
  ServerHosts hosts = ServerHosts::beside;
  /// Every push is an update, answered by itself; else updates wait for the pushes of a whole step.
  bool asynchronous = false;
  /// Synchronous: pushes of a step that are not waited for, and dropped (Chen et al. 2016,
  /// arXiv:1604.00981).
  int backup_workers = 0;
  /// Asynchronous: by how many steps a worker may be ahead of the slowest (Ho et al. 2013).
  std::optional<int> staleness_bound = {};
  /// Steps of its own that a worker takes between two pushes; it pushes what it has learned in them
  /// (synchronous: a round of federated averaging, McMahan et al. 2017, arXiv:1602.05629;
  /// asynchronous: Liu et al. 2024, arXiv:2401.09135, asynchronous local SGD).
  int push_every = 1;
  /// Bits of a parameter on its way to servers, and back; without them those of a gradient, and of
  /// a parameter.
  std::optional<double> push_bits = {};
  std::optional<double> pull_bits = {};
  /// What an accelerator's connection to all servers together carries, and the one back: below what
  /// the fabric leaves it, as at home or on a phone.
  std::optional<BytesPerSecond> uplink = {};
  std::optional<BytesPerSecond> downlink = {};
  /// Accelerators of a scale-up domain add up their gradients first, and are one worker.
  bool local_reduction = false;

  /// Whether workers update their parameters themselves between pushes.
  [[nodiscard]] bool has_local_updates() const { return push_every > 1; }
};

/// Who is in an exchange of what was learned.
enum class ExchangeAmong {
  islands,  ///< ranks with the same place in every island, about a part each of what it trains
  island    ///< ranks of an island, about all that it trains
};

/// What replicas exchange of what they learned, behind the passes of an iteration.
struct ReplicaExchange {
  std::string_view name;  ///< of its communicators: "average of islands"
  ExchangeAmong among = ExchangeAmong::islands;
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bits = 32.0;  ///< of a parameter on its way
  int pieces = 1;      ///< that the parameters travel in
  double times = 1.0;  ///< such pieces in an iteration, on average
  /// It begins when this share of the iteration's compute is done; all wait for its end.
  double begin = 1.0;
  /// Iterations from one update by what was exchanged to the next; 0: there is none.
  int updated_every = 0;
};

/// A way by which the replicas of a job come to the same parameters, with what a job says of it.
/// Readers, rules, memory, programs and reports ask here; none of them knows a scheme by name.
class SynchronisationScheme {
 public:
  virtual ~SynchronisationScheme() = default;

  // Of the scheme, whatever a job says of it.

  [[nodiscard]] virtual std::string_view name() const = 0;   ///< as scenarios spell it
  [[nodiscard]] virtual std::string_view brief() const = 0;  ///< "by collectives"
  [[nodiscard]] virtual std::string_view what() const = 0;   ///< in a sentence, behind others
  [[nodiscard]] virtual std::string_view see() const { return {}; }
  /// What a job may say of it; `fields_of` makes rows of them.
  [[nodiscard]] virtual std::vector<Field<Synchronisation>> fields() const;
  /// What it does not go with. They hold for jobs that have chosen another one.
  [[nodiscard]] virtual std::vector<StrategyRule> rules() const;

  // Of the job.

  /// Whether replicas reduce their gradients by collectives with every step.
  [[nodiscard]] virtual bool reduces_gradients() const { return false; }
  /// Groups of data-parallel ranks that take steps of their own.
  [[nodiscard]] virtual int islands(int /*data_parallel*/) const { return 1; }
  /// Steps that each takes from one time that it waits for others to the next.
  [[nodiscard]] virtual int steps_apart() const { return 1; }
  /// Instead of replicas that reduce; nothing where there are none.
  [[nodiscard]] virtual const ServerPlan* servers() const { return nullptr; }
  [[nodiscard]] virtual std::vector<ReplicaExchange> exchanges(const Strategy& strategy) const;
  /// Bytes for each trained parameter that the ranks of an island share out beside the optimizer's
  /// states.
  [[nodiscard]] virtual double kept_bytes() const { return 0.0; }
  /// What it adds to a line about the strategy: ", 4 islands of 500 local steps".
  [[nodiscard]] virtual std::string work_text(const Strategy& strategy) const;
  /// What is left out or taken for granted, in sentences.
  [[nodiscard]] virtual std::vector<std::string> notes(const Strategy& strategy) const;
};

using SynchronisationPointer = std::shared_ptr<const SynchronisationScheme>;

/// All there are, as they are where a job says no more than the name; the first is the default.
[[nodiscard]] std::span<const SynchronisationPointer> synchronisation_schemes();

/// How the replicas of a job come to the same parameters.
struct Synchronisation {
  SynchronisationPointer scheme = synchronisation_schemes().front();

  const SynchronisationScheme* operator->() const { return scheme.get(); }
  friend bool operator==(const Synchronisation&, const Synchronisation&) = default;
};

}  // namespace headway
