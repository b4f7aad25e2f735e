#pragma once

#include <istream>
#include <optional>
#include <vector>

#include "calibrate/suite/rendezvous.h"
#include "sim/base/units.h"

namespace headway {

/// What all processors of a machine did since it started.
struct MachineTime {
  Seconds busy;    ///< in programs and in the kernel on their behalf; interrupts not counted
  Seconds stolen;  ///< taken by other guests of the same host
};
/// Reads the text of /proc/stat; nothing if it is none. `ticks_per_second` is sysconf(_SC_CLK_TCK).
[[nodiscard]] std::optional<MachineTime> machine_time(std::istream& text, double ticks_per_second);

/// How long a thread was ready to run but had no processor, by the text of its schedstat; nothing
/// where the kernel does not tell.
[[nodiscard]] std::optional<Seconds> waited_time(std::istream& text);

/// What one rank saw of its machine over a stretch of time, in seconds. What the kernel does not
/// tell counts in full: the rank waited all the time, the machine was busy.
struct RankLoad {
  double elapsed = 0.0;
  double own = 0.0;     ///< processor time of this process
  double waited = 0.0;  ///< of its threads, for a processor
  double busy = 0.0;    ///< of the machine's processors together
  double stolen = 0.0;  ///< likewise
  double processors = 1.0;
  double machine = 0.0;  ///< equal for ranks of one machine
};

/// The share of the time in which work that is not ours held up a rank, on the machine where it is
/// largest: no more than ranks waited for a processor, as they also wait for each other and for
/// their own threads; no more than others used, as ranks that sleep are served at once. What other
/// guests stole comes on top, as no kernel sees who waited for it.
[[nodiscard]] double contaminated_share(const std::vector<RankLoad>& ranks);

/// Watches this process and its machine from its construction on.
class LoadWatch {
 public:
  LoadWatch();
  [[nodiscard]] RankLoad load() const;

 private:
  [[nodiscard]] static RankLoad totals();
  RankLoad start_;
};

/// How many ranks before this one run on the same machine, wherever its processes and networks are
/// split up by namespaces and host names. Call on all ranks.
[[nodiscard]] int rank_on_machine(Rendezvous& rendezvous);

/// Everybody's loads, by rank. Call on all ranks.
[[nodiscard]] std::vector<RankLoad> gathered(const RankLoad& mine, Rendezvous& rendezvous);

}  // namespace headway
