#include "sim/engine/job_colours.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "sim/base/index.h"
#include "sim/programs/perturbation/block_draws.h"

namespace headway {
namespace {

/// Depends on the order of its arguments. The finaliser of MurmurHash3.
Colour mixed(Colour a, Colour b) {
  Colour x = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
  x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33U);
}

Colour mixed(Colour a, double b) { return mixed(a, std::bit_cast<Colour>(b)); }
Colour mixed(Colour a, std::int32_t b) { return mixed(a, static_cast<Colour>(std::int64_t{b})); }

/// What one group sends another, by the peers of its program.
std::vector<std::set<std::int32_t>> peers_by_program(const Workload& workload) {
  std::vector<std::set<std::int32_t>> peers;
  for (const Program& program : workload.programs) {
    std::set<std::int32_t>& of = peers.emplace_back();
    for (const Operation& operation : program.operations) {
      if (operation.kind == OperationKind::send) of.insert(operation.peer);
    }
  }
  return peers;
}

/// How many plans each communicator has that somebody asks for.
std::vector<std::int32_t> ways_of_communicators(const Workload& workload) {
  std::vector<std::map<std::int32_t, std::int32_t>> by_program;  // by path
  for (const Program& program : workload.programs) {
    std::map<std::int32_t, std::int32_t>& ways = by_program.emplace_back();
    for (const Operation& operation : program.operations) {
      if (operation.kind != OperationKind::join) continue;
      std::int32_t& most = ways[operation.path];
      most = std::max(most, operation.way + 1);
    }
  }
  std::vector<std::int32_t> ways(workload.communicators.size(), 1);
  for (const RankGroup& group : workload.groups) {
    for (const auto& [path, most] : at(by_program, group.program)) {
      std::int32_t& of = at(ways, at(group.communicators, path));
      of = std::max(of, most);
    }
  }
  return ways;
}

/// How the devices of a group differ from others': nothing, where they do not.
Colour device_colour(BlockDraws& draws, const Perturbation& perturbation, const RankGroup& group,
                     std::size_t number) {
  Colour colour = 0;
  const BlockDraws::Devices devices = draws.devices(group.accelerators);
  for (const BlockDraws::Device& device : devices.drawn) colour = mixed(colour, device.time_factor);
  colour = mixed(colour, devices.undrawn_factor);
  for (const SlowEpisode& episode : perturbation.slow_episodes) {
    const bool is_met = std::ranges::any_of(group.accelerators, [&](std::int32_t accelerator) {
      return episode.accelerators.has(accelerator);
    });
    if (is_met) return mixed(colour, static_cast<Colour>(number));
  }
  return colour;
}

std::size_t distinct(std::vector<Colour> colours) {
  std::ranges::sort(colours);
  return colours.size() - std::ranges::unique(colours).size();
}

}  // namespace

JobColours::JobColours(const Workload& workload, const LinkUsage& usage,
                       const Perturbation& perturbation)
    : workload_(workload),
      usage_(usage),
      peers_(peers_by_program(workload)),
      ways_(ways_of_communicators(workload)),
      links_(usage.capacities.size()) {
  BlockDraws draws(perturbation);
  for (std::size_t i = 0; i < workload.groups.size(); ++i) {
    const RankGroup& group = workload.groups[i];
    groups_.push_back(mixed(device_colour(draws, perturbation, group, i), group.program));
  }
  for (const Communicator& communicator : workload.communicators) {
    communicators_.push_back(mixed(static_cast<Colour>(communicator.members),
                                   static_cast<std::int32_t>(communicator.kind)));
  }
  std::ranges::transform(usage.capacities, links_.begin(),
                         [](double capacity) { return mixed(Colour{1}, capacity); });
}

bool JobColours::refine(std::size_t most) {
  std::size_t classes = 0;
  for (;;) {
    const std::size_t groups = distinct(groups_);
    if (groups > most) return false;
    const std::size_t now = groups + distinct(communicators_) + distinct(links_);
    if (now == classes) return true;
    classes = now;
    refine_once();
  }
}

void JobColours::refine_once() {
  refine_links();
  refine_communicators();
  refine_groups();
}

/// Links by who uses them, sums being the same in any order.
void JobColours::refine_links() {
  std::vector<Colour> links = links_;
  const auto load = [&](std::int32_t plan, Colour user) {
    for (const MaxMinShares::Use& use : at(usage_.plans, plan)) {
      at(links, use.link) += mixed(user, use.weight);
    }
  };
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const std::vector<std::int32_t>& paths = workload_.groups[i].paths;
    for (std::size_t path = 0; path < paths.size(); ++path) {
      load(paths[path], mixed(groups_[i], static_cast<Colour>(path)));
    }
  }
  for (std::size_t i = 0; i < communicators_.size(); ++i) {
    for (std::int32_t way = 0; way < ways_[i]; ++way) {
      load(workload_.communicators[i].plan + way, mixed(communicators_[i], way));
    }
  }
  for (Colour& link : links) link = mixed(link, Colour{2});
  links_ = std::move(links);
}

/// Communicators by their plans and members.
void JobColours::refine_communicators() {
  std::vector<Colour> communicators = communicators_;
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    const std::int32_t queue = workload_.communicators[i].queue;
    if (queue >= 0) communicators[i] = mixed(communicators[i], at(communicators_, queue));
    for (std::int32_t way = 0; way < ways_[i]; ++way) {
      communicators[i] =
          mixed(communicators[i], colour_of_plan(workload_.communicators[i].plan + way));
    }
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const std::vector<std::int32_t>& joined = workload_.groups[i].communicators;
    for (std::size_t path = 0; path < joined.size(); ++path) {
      if (joined[path] < 0) continue;
      at(communicators, joined[path]) += mixed(groups_[i], static_cast<Colour>(path));
    }
  }
  communicators_ = std::move(communicators);
}

/// Groups by their plans, communicators, and those that they send to and get from.
void JobColours::refine_groups() {
  std::vector<Colour> groups = groups_;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RankGroup& group = workload_.groups[i];
    for (const std::int32_t plan : group.paths) {
      groups[i] = mixed(groups[i], colour_of_plan(plan));
    }
    for (const std::int32_t id : group.communicators) {
      groups[i] = mixed(groups[i], id < 0 ? Colour{0} : at(communicators_, id));
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::int32_t peer : at(peers_, workload_.groups[i].program)) {
      const auto receiver = static_cast<std::int64_t>(i) + peer;
      groups[i] += mixed(mixed(at(groups_, receiver), peer), Colour{3});
      at(groups, receiver) += mixed(mixed(groups_[i], peer), Colour{4});
    }
  }
  for (Colour& group : groups) group = mixed(group, Colour{5});
  groups_ = std::move(groups);
}

Colour JobColours::colour_of_plan(std::int32_t plan) const {
  const FlowPlan& of = at(workload_.plans, plan);
  Colour colour = mixed(mixed(mixed(Colour{6}, of.latency.count()), of.rate_cap.count()),
                        at(usage_.units, plan));
  for (const MaxMinShares::Use& use : at(usage_.plans, plan)) {
    colour += mixed(at(links_, use.link), use.weight);
  }
  return colour;
}

}  // namespace headway
