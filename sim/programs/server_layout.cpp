#include "sim/programs/server_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/layers/kernel_shape.h"
#include "sim/programs/pieces/stage_pieces.h"
#include "sim/programs/program_builder.h"
#include "sim/programs/stage_costs/optimizer_cost.h"

namespace headway {
namespace {

constexpr double kSumBytes = 4.0;  ///< gradients are added up in fp32

class ServedLayout {
 public:
  ServedLayout(const ServedJob& job, Workload& workload)
      : job_(job),
        strategy_(*job.shape.strategy),
        how_(*strategy_.synchronisation->servers()),
        workload_(workload),
        often_(1.0 / how_.push_every),
        members_(accelerators_of_worker(strategy_, job.cluster)),
        workers_(strategy_.data_parallel / members_) {}

  void lay_out() {
    for (Piece& piece : chunk_pieces(job_.shape, 0)) {
      if (piece.trained > 0.0) {
        // What is learned in several steps travels as one: nobody pulls while others still push.
        if (keys_.empty() || !how_.has_local_updates()) keys_.push_back(0.0);
        keys_.back() += piece.trained;
      }
      pieces_.push_back(piece);
    }
    // Beside fewer workers than the job was asked for there may be no backups left.
    const int awaited = std::max(1, workers_ - how_.backup_workers);
    const bool is_in_step = !how_.asynchronous && awaited == workers_;
    workload_.iterations = is_in_step ? 1 : kIterationsOutOfStep;
    workload_.ranks_per_group = members_;
    if (how_.asynchronous) {
      workload_.serving.lead = how_.staleness_bound.value_or(Serving::kAnyLead);
      workload_.ends_with = 1;
    } else {
      workload_.serving.quorum = awaited;
      workload_.ends_with = is_in_step ? 0 : awaited;
    }
    workload_.programs.push_back(program());
    add_workers();
    for (int server = 0; server < how_.servers; ++server) add_server(server);
  }

 private:
  /// What is learned in several steps is known behind the last of them.
  [[nodiscard]] bool overlaps() const {
    return strategy_.overlap_gradient_reduce && !how_.has_local_updates();
  }
  [[nodiscard]] double gradient_bytes() const {
    return bytes_per_element(strategy_.gradient_precision);
  }
  [[nodiscard]] double push_bytes() const {
    return how_.push_bits ? *how_.push_bits / 8.0 : gradient_bytes();
  }
  [[nodiscard]] double pull_bytes() const {
    return how_.pull_bits ? *how_.pull_bits / 8.0 : working_bytes_per_element(strategy_.precision);
  }

  [[nodiscard]] Program program() const {
    const JobShape& shape = job_.shape;
    ProgramBuilder builder("worker");
    TimeByCause forward;
    TimeByCause backward;
    TimeByCause update;
    std::vector<std::int32_t> parts;  // of the backward pass
    std::vector<std::int32_t> additions;
    for (const Piece& piece : pieces_) {
      forward += forward_time(shape, piece);
      backward += backward_time(shape, piece);
      parts.push_back(builder.add_block("backward", backward_time(shape, piece)));
      TimeByCause time;
      if (job_.local_reduction != nullptr) {
        time[Cause::data_parallel_exposed] =
            job_.local_reduction->price(Bytes(piece.trained * gradient_bytes())).time;
      }
      additions.push_back(builder.add_block("local reduce", time));
      if (how_.has_local_updates()) {
        update[Cause::optimizer] += Seconds(piece.trained * shape.optimizer_seconds_per_parameter);
      }
    }
    const std::int32_t local_update = builder.add_block("local update", update);
    const std::int32_t whole_forward = builder.add_block("forward", forward);
    const std::int32_t whole_backward = builder.add_block("backward", backward);
    TimeByCause step;
    step[Cause::other] = shape.cost.step_overhead;
    const std::int32_t end_of_step = builder.add_block("step", step);

    const auto micro_batches = static_cast<int>(strategy_.micro_batches());
    for (int iteration = 0; iteration < workload_.iterations; ++iteration) {
      builder.begin_round();
      for (int i = 0; i < micro_batches; ++i) {
        builder.set_pass(iteration * micro_batches + i, 0);
        builder.compute(whole_forward);
        const bool pushes = i + 1 == micro_batches;
        if (!pushes || !overlaps()) builder.compute(whole_backward);
        if (pushes && how_.has_local_updates()) builder.compute(local_update);
        if (pushes) push_all(builder, parts, additions);
      }
      builder.set_pass(-1, -1);
      builder.compute(end_of_step);
      if (workload_.serving.quorum > 0 && workload_.iterations > 1) builder.advance();
    }
    return std::move(builder).finished();
  }

  /// From the back, where gradients are ready first; then waits for what comes back.
  void push_all(ProgramBuilder& builder, const std::vector<std::int32_t>& parts,
                const std::vector<std::int32_t>& additions) const {
    std::vector<std::int32_t> slots;
    auto key = static_cast<std::int32_t>(keys_.size());
    for (std::size_t i = pieces_.size(); i-- > 0;) {
      if (overlaps()) builder.compute(parts[i]);
      if (pieces_[i].trained <= 0.0) continue;
      if (members_ > 1) builder.compute(additions[i]);
      if (!how_.has_local_updates()) slots.push_back(builder.push(--key));
    }
    if (how_.has_local_updates() && key > 0) slots.push_back(builder.push(--key));
    for (const std::int32_t slot : slots) builder.pull(slot);
  }

  void add_workers() {
    for (int worker = 0; worker < workers_; ++worker) {
      RankGroup group{.replica = worker, .local = {.steps = how_.push_every}};
      for (int i = 0; i < members_; ++i) {
        group.accelerators.push_back(job_.placement.accelerator(0, 0, worker * members_ + i, 0));
      }
      workload_.groups.push_back(std::move(group));
    }
  }

  /// Spread over the nodes of the job, or on those behind it.
  [[nodiscard]] int node_of(int server) const {
    const int of_node = job_.cluster.node_type.accelerators;
    const int nodes = (strategy_.ranks() + of_node - 1) / of_node;
    if (how_.hosts == ServerHosts::apart) return nodes + server;
    return static_cast<int>(std::int64_t{server} * nodes / how_.servers) % nodes;
  }

  /// Profiles know each accelerator's share of a host; servers of one host share all of it.
  [[nodiscard]] BytesPerSecond memory_of(int server) const {
    int there = 0;
    for (int other = 0; other < how_.servers; ++other) {
      if (node_of(other) == node_of(server)) ++there;
    }
    const double shares = static_cast<double>(job_.cluster.node_type.accelerators) / there;
    return BytesPerSecond(shares * job_.profile.device.host_memory_bandwidth->value);
  }

  void add_server(int number) {
    Server server{.name = fmt::format("server {}", number)};
    const BytesPerSecond memory = memory_of(number);
    for (const double trained : keys_) {
      const double held = often_ * trained / how_.servers;
      server.keys.push_back({.push = Bytes(held / members_ * push_bytes()),
                             .pull = Bytes(held / members_ * pull_bytes()),
                             .add_up = Bytes(held * (2.0 * kSumBytes + push_bytes())) / memory,
                             .update = Bytes(held * (kHostAdamBytes + pull_bytes())) / memory});
    }
    const int of_node = job_.cluster.node_type.accelerators;
    const int first = node_of(number) * of_node;
    for (const RankGroup& group : workload_.groups) {
      // By the NIC of the host that is on the worker's rail.
      std::vector<std::int32_t> there;
      for (const std::int32_t accelerator : group.accelerators) {
        there.push_back(first + accelerator % of_node);
      }
      server.plans_here.push_back(add_plan(group.accelerators, there, how_.uplink));
      server.plans_back.push_back(add_plan(there, group.accelerators, how_.downlink));
    }
    workload_.servers.push_back(std::move(server));
  }

  /// To or from the host of a node: at home that is the link of accelerator and host. Messages to
  /// all servers travel together, and each has its part of `connection`.
  std::int32_t add_plan(const std::vector<std::int32_t>& from, const std::vector<std::int32_t>& to,
                        const std::optional<BytesPerSecond>& connection) {
    FlowPlan plan = transfer_plan(job_.cluster, job_.network, from, to);
    const int of_node = job_.cluster.node_type.accelerators;
    const bool stays = std::ranges::equal(
        from, to, {}, [&](std::int32_t accelerator) { return accelerator / of_node; },
        [&](std::int32_t accelerator) { return accelerator / of_node; });
    const std::optional<Estimate>& host = job_.profile.device.host_bandwidth;
    // No scale-up link leads to the host; where nothing is known of the one that does, it is as
    // fast as that, and no bound where there is none either.
    const bool is_bare = plan.rate_cap == BytesPerSecond(0.0);
    if (stays && (host || is_bare)) plan.rate_cap = FlowPlan{}.rate_cap;
    if (host) plan.rate_cap = min(plan.rate_cap, BytesPerSecond(host->value));
    if (connection) plan.rate_cap = min(plan.rate_cap, (1.0 / how_.servers) * *connection);
    plan.latency = often_ * plan.latency;
    workload_.plans.push_back(std::move(plan));
    return static_cast<std::int32_t>(workload_.plans.size()) - 1;
  }

  const ServedJob& job_;
  const Strategy& strategy_;
  const ServerPlan& how_;
  Workload& workload_;
  double often_;  ///< pushes of a worker in a step
  int members_;
  int workers_;
  std::vector<Piece> pieces_;
  std::vector<double> keys_;  ///< parameters of each
};

}  // namespace

int accelerators_of_worker(const Strategy& strategy, const Cluster& cluster) {
  if (!strategy.synchronisation->servers()->local_reduction) return 1;
  return std::gcd(strategy.data_parallel, cluster.scale_up_domain);
}

void lay_out_servers(const ServedJob& job, Workload& workload) {
  HEADWAY_CHECK(job.profile.device.host_memory_bandwidth.has_value(),
                "a profile that does not know the host");
  ServedLayout(job, workload).lay_out();
}

}  // namespace headway
