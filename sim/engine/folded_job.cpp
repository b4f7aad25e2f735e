#include "sim/engine/folded_job.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "sim/base/index.h"
#include "sim/engine/job_colours.h"

namespace headway {
namespace {

/// Members of classes, numbered in the order of their first ones.
struct Classes {
  std::vector<std::int32_t> of;
  std::vector<std::int32_t> first;

  explicit Classes(const std::vector<Colour>& colours) {
    std::unordered_map<Colour, std::int32_t> known;
    for (std::size_t i = 0; i < colours.size(); ++i) {
      const auto [found, is_new] =
          known.try_emplace(colours[i], static_cast<std::int32_t>(first.size()));
      if (is_new) first.push_back(static_cast<std::int32_t>(i));
      of.push_back(found->second);
    }
  }
};

class Fold {
 public:
  Fold(const Workload& workload, const LinkUsage& usage, const JobColours& refined)
      : workload_(workload),
        usage_(usage),
        ways_(refined.ways()),
        groups_(refined.groups()),
        communicators_(refined.communicators()),
        links_(refined.links()) {}

  FoldedJob folded() && {
    Workload& result = job_.workload;
    result.ranks_per_group = workload_.ranks_per_group;
    result.iterations = workload_.iterations;
    result.nic_efficiency = workload_.nic_efficiency;
    for (const std::int32_t first : groups_.first) add_group(at(workload_.groups, first), first);
    for (const std::int32_t first : communicators_.first) add_communicator(first);
    job_.folding.first_plan_of_communicator_class.push_back(
        static_cast<std::int32_t>(result.plans.size()));
    count_members();
    for (const std::int32_t first : links_.first) {
      job_.usage.capacities.push_back(at(usage_.capacities, first));
      job_.usage.kept.push_back(at(usage_.kept, first));
    }
    load_links();
    job_.folding.class_of_group = std::move(groups_.of);
    job_.folding.class_of_communicator = std::move(communicators_.of);
    return std::move(job_);
  }

 private:
  void add_plan(std::int32_t plan) {
    job_.workload.plans.push_back(at(workload_.plans, plan));
    job_.usage.units.push_back(at(usage_.units, plan));
  }

  [[nodiscard]] std::int32_t next_plan() const {
    return static_cast<std::int32_t>(job_.workload.plans.size());
  }

  void add_group(const RankGroup& group, std::int32_t number) {
    RankGroup stands = group;
    const auto own = static_cast<std::int32_t>(job_.workload.groups.size());
    stands.program = own;
    Program program = at(workload_.programs, group.program);
    for (Operation& operation : program.operations) {
      if (operation.kind != OperationKind::send) continue;
      operation.peer = at(groups_.of, number + operation.peer) - own;
    }
    job_.folding.first_plan_of_group_class.push_back(next_plan());
    for (std::int32_t& path : stands.paths) {
      const std::int32_t plan = std::exchange(path, next_plan());
      add_plan(plan);
    }
    for (std::int32_t& id : stands.communicators) {
      if (id >= 0) id = at(communicators_.of, id);
    }
    job_.workload.programs.push_back(std::move(program));
    job_.workload.groups.push_back(std::move(stands));
  }

  void add_communicator(std::int32_t number) {
    Communicator stands = at(workload_.communicators, number);
    const std::int32_t plan = std::exchange(stands.plan, next_plan());
    job_.folding.first_plan_of_communicator_class.push_back(stands.plan);
    for (std::int32_t way = 0; way < at(ways_, number); ++way) add_plan(plan + way);
    stands.members = 0;
    if (stands.queue >= 0) stands.queue = at(communicators_.of, stands.queue);
    job_.workload.communicators.push_back(std::move(stands));
  }

  /// Each group of the folded job joins once by each of its names.
  void count_members() {
    for (const RankGroup& group : job_.workload.groups) {
      for (const std::int32_t id : group.communicators) {
        if (id >= 0) ++at(job_.workload.communicators, id).members;
      }
    }
  }

  /// A link carries what the first of its class carries of each class of flows.
  void load_links() {
    std::vector<std::map<std::int32_t, double>> loads(job_.workload.plans.size());
    const auto load = [&](std::int32_t plan, std::int32_t folded) {
      for (const MaxMinShares::Use& use : at(usage_.plans, plan)) {
        const std::int32_t of = at(links_.of, use.link);
        if (at(links_.first, of) == use.link) at(loads, folded)[of] += use.weight;
      }
    };
    for (std::size_t i = 0; i < workload_.groups.size(); ++i) {
      const std::vector<std::int32_t>& paths = workload_.groups[i].paths;
      const std::int32_t first = at(job_.folding.first_plan_of_group_class, groups_.of[i]);
      for (std::size_t path = 0; path < paths.size(); ++path) {
        load(paths[path], first + static_cast<std::int32_t>(path));
      }
    }
    for (std::size_t i = 0; i < workload_.communicators.size(); ++i) {
      const std::int32_t first =
          at(job_.folding.first_plan_of_communicator_class, communicators_.of[i]);
      for (std::int32_t way = 0; way < ways_[i]; ++way) {
        load(workload_.communicators[i].plan + way, first + way);
      }
    }
    for (const std::map<std::int32_t, double>& of_plan : loads) {
      std::vector<MaxMinShares::Use>& uses = job_.usage.plans.emplace_back();
      for (const auto& [link, weight] : of_plan) uses.push_back({link, weight});
    }
  }

  const Workload& workload_;
  const LinkUsage& usage_;
  const std::vector<std::int32_t>& ways_;
  Classes groups_;
  Classes communicators_;
  Classes links_;
  FoldedJob job_;
};

bool may_fold(const Workload& workload, const Perturbation& perturbation) {
  return !perturbation.random() && perturbation.pauses.empty() &&
         perturbation.link_episodes.empty() && perturbation.background.empty() &&
         workload.servers.empty() && workload.ends_with == 0 && workload.backup_replicas == 0 &&
         std::ranges::all_of(workload.communicators,
                             [](const Communicator& of) { return of.backups == 0; });
}

}  // namespace

std::optional<FoldedJob> folded_job(const Workload& workload, const LinkUsage& usage,
                                    const Perturbation& perturbation) {
  if (!may_fold(workload, perturbation)) return std::nullopt;
  JobColours colours(workload, usage, perturbation);
  if (!colours.refine(workload.groups.size() / 2)) return std::nullopt;
  return Fold(workload, usage, colours).folded();
}

namespace {

/// As much memory as the whole job's timeline takes, at once.
void reserve(Timeline& timeline, const Workload& workload) {
  std::size_t operations = 0;
  std::size_t messages = 0;
  for (const RankGroup& group : workload.groups) {
    const Program& program = at(workload.programs, group.program);
    operations += program.operations.size();
    messages += static_cast<std::size_t>(program.message_slots);
  }
  timeline.operation_end.reserve(operations);
  timeline.messages.reserve(messages);
}

}  // namespace

Timeline unfolded(const Workload& workload, EngineRun run) {
  if (!run.folding) return std::move(run.timeline);
  const Folding& folding = *run.folding;
  const Timeline& folded = run.timeline;
  Timeline whole;
  whole.finish = folded.finish;
  whole.counts = folded.counts;
  whole.first_operation.push_back(0);
  whole.first_message.push_back(0);
  whole.plan_bytes.assign(workload.plans.size(), 0.0);
  reserve(whole, workload);
  for (std::size_t i = 0; i < workload.groups.size(); ++i) {
    const std::int32_t of = folding.class_of_group[i];
    const std::span<const double> ends = folded.ends_of(of);
    whole.operation_end.insert(whole.operation_end.end(), ends.begin(), ends.end());
    whole.first_operation.push_back(std::ssize(whole.operation_end));
    const std::span<const Timeline::Message> messages = folded.messages_of(of);
    whole.messages.insert(whole.messages.end(), messages.begin(), messages.end());
    whole.first_message.push_back(std::ssize(whole.messages));
    std::int32_t plan = at(folding.first_plan_of_group_class, of);
    for (const std::int32_t path : workload.groups[i].paths) {
      at(whole.plan_bytes, path) += at(folded.plan_bytes, plan++);
    }
  }
  for (std::size_t i = 0; i < workload.communicators.size(); ++i) {
    const std::int32_t of = folding.class_of_communicator[i];
    whole.collectives.push_back(at(folded.collectives, of));
    const std::int32_t first = at(folding.first_plan_of_communicator_class, of);
    const std::int32_t end = at(folding.first_plan_of_communicator_class, of + 1);
    for (std::int32_t plan = first; plan < end; ++plan) {
      at(whole.plan_bytes, workload.communicators[i].plan + plan - first) +=
          at(folded.plan_bytes, plan);
    }
  }
  // Where several joined last at the same moment, the last of them counts.
  for (std::size_t i = 0; i < workload.groups.size(); ++i) {
    for (const std::int32_t id : workload.groups[i].communicators) {
      if (id < 0) continue;
      const auto& records = at(folded.collectives, at(folding.class_of_communicator, id));
      auto& of_whole = at(whole.collectives, id);
      for (std::size_t instance = 0; instance < records.size(); ++instance) {
        if (records[instance].last_group != folding.class_of_group[i]) continue;
        of_whole[instance].last_group = static_cast<std::int32_t>(i);
      }
    }
  }
  return whole;
}

}  // namespace headway
