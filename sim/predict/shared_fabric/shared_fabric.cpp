#include "sim/predict/shared_fabric/shared_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <set>

#include "sim/base/utf8.h"
#include "sim/jobs/strategy.h"
#include "sim/predict/input/store_steps.h"
#include "sim/predict/job_run.h"
#include "sim/programs/joint_workload.h"

namespace headway {
namespace {

/// More than there are jobs: even one that gets its share of all links only sees the others.
constexpr int kFewestIterations = 4;
constexpr double kMostIterations = 1000.0;

/// A job at one of its sizes.
struct Member {
  std::string name;
  double from = 0.0;
  double to = 0.0;
  int accelerators = 0;
  double samples = 0.0;
  Workload workload;
  std::optional<StoreReads> reads;  ///< from the store that all have
  Seconds pace;                     ///< of an iteration, about
};

Workload built(const Scenario& scenario, const Model& model, const Strategy& strategy,
               int first_accelerator) {
  Placement placement = placement_of(strategy, scenario.placement.order);
  placement.first_accelerator = first_accelerator;
  return build_workload({model, strategy, scenario.profiles(), *scenario.cluster, placement,
                         scenario.run.gradient_algorithm})
      .workload;
}

/// After the first epoch.
void read_in(Member& member, const Scenario& scenario, const SampleReading& reading,
             const Strategy& strategy) {
  member.reads = job_reads(scenario, reading, strategy, member.workload,
                           read_share(reading, strategy, *scenario.cluster));
}

std::deque<Member> members_of(const Scenario& scenario) {
  std::deque<Member> members;
  members.push_back({.name = "this job",
                     .to = std::numeric_limits<double>::infinity(),
                     .accelerators = scenario.accelerators(),
                     .samples = static_cast<double>(scenario.samples_of_step()),
                     .workload = built_job(scenario, *scenario.strategy).workload});
  if (scenario.input) read_in(members.back(), scenario, *scenario.input, *scenario.strategy);
  for (const NeighbourJob& job : scenario.jobs) {
    const int first = job.first_node * scenario.cluster->node_type.accelerators;
    for (const NeighbourJob::Size& size : job.sizes) {
      members.push_back({.name = job.name,
                         .from = size.from,
                         .to = size.to,
                         .accelerators = size.strategy->ranks(),
                         .samples = static_cast<double>(size.strategy->global_batch),
                         .workload = built(scenario, job.model, *size.strategy, first)});
      if (job.reading) read_in(members.back(), scenario, *job.reading, *size.strategy);
    }
  }
  return members;
}

JointPart part_of(const Member& member, int iterations) {
  return {&member.workload, iterations, member.reads ? &*member.reads : nullptr};
}

/// Jobs that are on the fabric together, and how many iterations of each.
struct Company {
  double from = 0.0;
  double to = 0.0;
  std::vector<Member*> present;
  std::vector<JointPart> parts;  ///< of each that is present
};

class Fabric {
 public:
  Fabric(const Scenario& scenario, int jobs)
      : scenario_(scenario), jobs_(jobs), members_(members_of(scenario)) {}

  SharedFabric shared() && {
    set_paces();
    const std::deque<Company> companies = all_companies();
    // Beside each company every one of its jobs alone, for as many iterations.
    std::deque<JointWorkload> workloads;
    for (const Company& one : companies) {
      workloads.push_back(joint_workload(one.parts));
      for (const JointPart& part : one.parts) workloads.push_back(joint_workload({&part, 1}));
    }
    const std::vector<std::vector<IterationEnds>> ends = simulated(workloads);
    SharedFabric result;
    std::size_t next = 0;
    for (const Company& one : companies) {
      const std::vector<IterationEnds>& together = ends[next++];
      const double first_over = earliest_end(together);
      for (std::size_t i = 0; i < one.present.size(); ++i) {
        const auto within = std::ranges::upper_bound(together[i], first_over);
        const auto counted =
            static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, within - together[i].begin()));
        const Member& member = *one.present[i];
        // Nothing is read ahead of the first one.
        const bool skips_first = member.reads && counted > 1;
        const auto mean = [&](const IterationEnds& of_job) {
          const double begin = skips_first ? of_job.front() : 0.0;
          return Seconds((of_job[counted - 1] - begin) /
                         static_cast<double>(counted - (skips_first ? 1 : 0)));
        };
        result.stays.push_back({.job = member.name,
                                .from = one.from,
                                .to = one.to,
                                .accelerators = member.accelerators,
                                .alone = mean(ends[next++].front()),
                                .shared = mean(together[i]),
                                .samples = member.samples});
      }
    }
    return result;
  }

 private:
  using IterationEnds = std::vector<double>;

  /// How long an iteration of each job takes about, to know how many of them to run.
  void set_paces() {
    std::deque<JointWorkload> workloads;
    for (const Member& member : members_) {
      const JointPart part = part_of(member, 1);
      workloads.push_back(joint_workload({&part, 1}));
    }
    const std::vector<std::vector<IterationEnds>> ends = simulated(workloads);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      members_[i].pace = Seconds(ends[i].front().front());
    }
  }

  /// One for each stretch of time.
  std::deque<Company> all_companies() {
    std::set<double> cuts;
    for (const Member& member : members_) cuts.insert({member.from, member.to});
    std::deque<Company> all;
    for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
      std::vector<Member*> present;
      for (Member& member : members_) {
        if (member.from <= *cut && *cut < member.to) present.push_back(&member);
      }
      all.push_back(company(*cut, *std::next(cut), std::move(present)));
    }
    return all;
  }

  static Company company(double from, double to, std::vector<Member*> present) {
    const Member* const slowest =
        *std::ranges::max_element(present, {}, [](const Member* member) { return member->pace; });
    std::vector<JointPart> parts;
    for (const Member* member : present) {
      const double fewest = kFewestIterations + static_cast<double>(present.size());
      // Whoever is faster has as many iterations more.
      const double iterations = std::ceil(fewest * (slowest->pace / member->pace));
      if (iterations > kMostIterations) throw too_different(*slowest, *member);
      parts.push_back(part_of(*member, static_cast<int>(iterations)));
    }
    return {from, to, std::move(present), std::move(parts)};
  }

  static InputError too_different(const Member& slow, const Member& fast) {
    Diagnostic problem;
    problem.message = fmt::format(
        "an iteration of {} is too long to be followed beside those of {}: {:.0f} of them",
        in_quotes(slow.name), in_quotes(fast.name), slow.pace / fast.pace);
    problem.pointer = "/jobs";
    problem.help = "leave the fast job out: it is over before the slow one notices";
    return InputError(std::move(problem));
  }

  /// When the first of several jobs has done all its iterations.
  static double earliest_end(const std::vector<IterationEnds>& of_jobs) {
    double earliest = std::numeric_limits<double>::infinity();
    for (const IterationEnds& ends : of_jobs) earliest = std::min(earliest, ends.back());
    return earliest;
  }

  /// The ends of all iterations of all jobs of each workload.
  [[nodiscard]] std::vector<std::vector<IterationEnds>> simulated(
      const std::deque<JointWorkload>& workloads) const {
    std::vector<SimulationTask> tasks;
    for (const JointWorkload& joint : workloads) {
      tasks.push_back({&joint.workload, &scenario_.cluster->topology, scenario_.perturbation});
    }
    const std::vector<Timeline> timelines = simulate_workloads(tasks, scenario_.run.engine, jobs_);
    std::vector<std::vector<IterationEnds>> ends;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      std::vector<IterationEnds>& of_jobs = ends.emplace_back();
      for (std::size_t job = 0; job < workloads[i].iterations.size(); ++job) {
        of_jobs.push_back(iteration_ends(workloads[i], job, timelines[i].first_operation,
                                         timelines[i].operation_end));
      }
    }
    return ends;
  }

  const Scenario& scenario_;
  int jobs_;
  std::deque<Member> members_;
};

}  // namespace

SharedFabric shared_fabric(const Scenario& scenario, int jobs) {
  return Fabric(scenario, jobs).shared();
}

}  // namespace headway
