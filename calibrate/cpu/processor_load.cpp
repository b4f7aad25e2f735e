#include "calibrate/cpu/processor_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "calibrate/cpu/thread_clock.h"

namespace headway {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// What all threads of this process waited; nothing where the kernel does not tell.
std::optional<Seconds> own_waited_time() {
  std::error_code problem;
  Seconds sum;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", problem)) {
    std::ifstream file(task.path() / "schedstat");
    const auto waited = waited_time(file);
    if (!waited) return std::nullopt;
    sum += *waited;
  }
  if (problem) return std::nullopt;
  return sum;
}

/// A number that two machines hardly share, that no namespace changes and that a double holds.
double machine_number() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return static_cast<double>(std::hash<std::string>{}(text) >> 12U);
}

}  // namespace

std::optional<MachineTime> machine_time(std::istream& text, double ticks_per_second) {
  // proc(5): "cpu user nice system idle iowait irq softirq steal ..."
  std::string name;
  double user = 0.0;
  double nice = 0.0;
  double system = 0.0;
  double unused = 0.0;
  double steal = 0.0;
  if (!(text >> name >> user >> nice >> system) || name != "cpu") return std::nullopt;
  if (!(text >> unused >> unused >> unused >> unused >> steal)) return std::nullopt;
  return MachineTime{Seconds((user + nice + system) / ticks_per_second),
                     Seconds(steal / ticks_per_second)};
}

std::optional<Seconds> waited_time(std::istream& text) {
  // Kernel documentation, sched-stats: time on a processor, time waiting for one (ns), time slices.
  double ran = 0.0;
  double waited = 0.0;
  if (!(text >> ran >> waited)) return std::nullopt;
  return Seconds(1e-9 * waited);
}

double contaminated_share(const std::vector<RankLoad>& ranks) {
  struct Machine {
    double own = 0.0;     ///< of all our ranks
    double waited = 0.0;  ///< largest share of a rank
    double busy = 0.0;
    double stolen = 0.0;
    double capacity = 0.0;  ///< processors times seconds
  };
  std::map<double, Machine> machines;
  for (const RankLoad& rank : ranks) {
    Machine& machine = machines[rank.machine];
    machine.own += rank.own;
    machine.waited = std::max(machine.waited, std::min(1.0, rank.waited / rank.elapsed));
    machine.busy = std::max(machine.busy, rank.busy);
    machine.stolen = std::max(machine.stolen, rank.stolen);
    machine.capacity = std::max(machine.capacity, rank.processors * rank.elapsed);
  }
  double share = 0.0;
  for (const auto& [number, machine] : machines) {
    const double others = std::max(0.0, machine.busy - machine.own) / machine.capacity;
    const double stolen = machine.stolen / machine.capacity;
    share = std::max(share, std::min(machine.waited, others) + stolen);
  }
  return std::min(1.0, share);
}

LoadWatch::LoadWatch() : start_(totals()) {}

RankLoad LoadWatch::totals() {
  RankLoad now;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  now.own = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  now.elapsed = steady_now().count();
  now.processors = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  now.busy = now.processors * now.elapsed;
  std::ifstream file("/proc/stat");
  if (const auto machine = machine_time(file, static_cast<double>(sysconf(_SC_CLK_TCK)))) {
    now.busy = machine->busy.count();
    now.stolen = machine->stolen.count();
  }
  now.waited = own_waited_time().value_or(Seconds(now.elapsed)).count();
  return now;
}

RankLoad LoadWatch::load() const {
  RankLoad load = totals();
  load.elapsed -= start_.elapsed;
  load.own -= start_.own;
  load.waited -= start_.waited;
  load.busy -= start_.busy;
  load.stolen -= start_.stolen;
  load.machine = machine_number();
  return load;
}

int rank_on_machine(Rendezvous& rendezvous) {
  const std::vector<double> machines = rendezvous.all_gather(machine_number());
  const auto own = machines.begin() + rendezvous.rank();
  return static_cast<int>(std::count(machines.begin(), own, *own));
}

std::vector<RankLoad> gathered(const RankLoad& mine, Rendezvous& rendezvous) {
  std::vector<RankLoad> all(static_cast<std::size_t>(rendezvous.size()));
  for (double RankLoad::* field :
       {&RankLoad::elapsed, &RankLoad::own, &RankLoad::waited, &RankLoad::busy, &RankLoad::stolen,
        &RankLoad::processors, &RankLoad::machine}) {
    const std::vector<double> values = rendezvous.all_gather(mine.*field);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].*field = values[i];
  }
  return all;
}

}  // namespace headway
