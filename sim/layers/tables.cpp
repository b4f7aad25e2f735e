#include "sim/layers/tables.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headway {
namespace {

/// Bytes that sorting moves for an id with its place: a radix sort reads and writes 4 B of each in
/// four passes of 8 bits (Adinets and Merrill 2022, arXiv:2206.01784, section 3).
constexpr double kSortBytes = 4.0 * 2.0 * (4.0 + 4.0);
constexpr double kReadAndWrite = 2.0;

/// A part of a table, on a group of ranks that cut its rows once more.
struct Shard {
  double rows = 0.0;
  double width = 0.0;
  double lookups = 0.0;  ///< of a sample
  double distinct = 1.0;
  double cost = 0.0;  ///< what balancing goes by
};

/// What a group of ranks has to do.
struct GroupLoad {
  double cost = 0.0;
  double elements = 0.0;
  std::vector<Shard> shards;
};

double states_of_row(TableOptimizer optimizer, double width) {
  switch (optimizer) {
    case TableOptimizer::sgd:
      return 0.0;
    case TableOptimizer::rowwise_adagrad:
      return 1.0;
    case TableOptimizer::adagrad:
      return width;
    case TableOptimizer::adam:
      return 2.0 * width;
  }
  return 0.0;
}

/// How many rows are met at least once by so many lookups at random: rows (1 - 1/rows)^lookups are
/// not.
double distinct_rows(double rows, double lookups) { return rows * -std::expm1(-lookups / rows); }

/// The costliest first, each to the group that has least to do, then holds least (longest
/// processing time first; Graham 1969).
std::vector<GroupLoad> shared_out(std::vector<Shard> shards, std::size_t groups) {
  std::ranges::stable_sort(shards, [](const Shard& a, const Shard& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.rows * a.width > b.rows * b.width;
  });
  // A heap, whose front has least.
  const auto has_more = [](const GroupLoad& a, const GroupLoad& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.elements > b.elements;
  };
  std::vector<GroupLoad> loads(groups);
  for (const Shard& shard : shards) {
    std::ranges::pop_heap(loads, has_more);
    GroupLoad& least = loads.back();
    least.cost += shard.cost;
    least.elements += shard.rows * shard.width;
    least.shards.push_back(shard);
    std::ranges::push_heap(loads, has_more);
  }
  return loads;
}

double busiest(const std::vector<GroupLoad>& loads) {
  return std::ranges::max_element(loads, {}, &GroupLoad::cost)->cost;
}

class Placing {
 public:
  explicit Placing(const RankShape& shape)
      : plan_(shape.tables),
        ranks_(shape.table_ranks),
        group_(plan_.placement == TablePlacement::row ? ranks_
                                                      : std::min<double>(plan_.group, ranks_)),
        groups_(static_cast<std::size_t>(std::max(1.0, ranks_ / group_))) {}

  [[nodiscard]] double group() const { return group_; }
  [[nodiscard]] bool is_replicated(const EmbeddingTable& table) const {
    return plan_.placement == TablePlacement::replicated ||
           Bytes(table.rows * table.width * kTableBytes) < plan_.replicated_below;
  }

  [[nodiscard]] std::vector<GroupLoad> of(const std::vector<EmbeddingTable>& tables) const {
    std::vector<EmbeddingTable> placed;
    std::ranges::remove_copy_if(tables, std::back_inserter(placed),
                                [&](const auto& table) { return is_replicated(table); });
    if (placed.empty()) return std::vector<GroupLoad>(1);
    switch (plan_.placement) {
      case TablePlacement::column:
        return shared_out(columns_of(placed), 1);
      case TablePlacement::balanced:
        return balanced(placed);
      case TablePlacement::table:
      case TablePlacement::row:
      case TablePlacement::replicated:
        break;
    }
    return shared_out(cut(placed, std::vector<double>(placed.size(), 1.0)), groups_);
  }

 private:
  /// What every rank has of each.
  [[nodiscard]] std::vector<Shard> columns_of(const std::vector<EmbeddingTable>& tables) const {
    std::vector<Shard> shards;
    for (const EmbeddingTable& table : tables) {
      shards.push_back(
          {table.rows, table.width / ranks_, table.lookups, table.distinct, table.lookups});
    }
    return shards;
  }

  /// By rows, each into so many parts.
  [[nodiscard]] std::vector<Shard> cut(const std::vector<EmbeddingTable>& tables,
                                       const std::vector<double>& parts) const {
    std::vector<Shard> shards;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const EmbeddingTable& table = tables[i];
      const Shard shard{.rows = table.rows / parts[i],
                        .width = table.width,
                        .lookups = table.lookups / parts[i],
                        .distinct = table.distinct,
                        .cost = table.width * (table.lookups / parts[i] + plan_.exchange_cost)};
      shards.insert(shards.end(), static_cast<std::size_t>(parts[i]), shard);
    }
    return shards;
  }

  /// Cuts what costs more than some limit, for the limit with which the busiest group has least to
  /// do.
  [[nodiscard]] std::vector<GroupLoad> balanced(const std::vector<EmbeddingTable>& tables) const {
    constexpr double kStep = 0.9;
    const auto most = static_cast<double>(groups_);
    std::vector<double> parts(tables.size(), 1.0);
    std::vector<GroupLoad> best = shared_out(cut(tables, parts), groups_);
    double limit = busiest(best);
    for (bool is_cut = true; is_cut;) {
      is_cut = false;
      for (std::size_t i = 0; i < tables.size(); ++i) {
        const EmbeddingTable& table = tables[i];
        const double left = limit / table.width - plan_.exchange_cost;
        const double wanted = left > 0.0 ? std::ceil(table.lookups / left) : most;
        parts[i] = std::clamp(wanted, 1.0, std::min(most, table.rows));
        is_cut = is_cut || parts[i] < std::min(most, table.rows);
      }
      std::vector<GroupLoad> loads = shared_out(cut(tables, parts), groups_);
      if (busiest(loads) < busiest(best)) best = std::move(loads);
      limit *= kStep;
    }
    return best;
  }

  const TablePlan& plan_;
  double ranks_;
  double group_;
  std::size_t groups_;
};

/// Bytes that one rank of a group moves in its memory.
struct Traffic {
  Bytes forward;
  Bytes backward;
};
Traffic traffic_of(const Shard& shard, double samples, const RankShape& shape, bool is_updated) {
  const double lookups = samples * shard.lookups;
  const Bytes row(shard.width * kTableBytes);
  const Bytes pooled(shard.width * shape.element_bytes);
  const double read = shard.distinct * lookups;
  const double touched = distinct_rows(shard.rows, read);
  const double kept = states_of_row(shape.tables.optimizer, shard.width) * kTableBytes;
  return {.forward = read * row + samples * pooled,
          .backward = lookups * (pooled + Bytes(kSortBytes)) +
                      (is_updated ? kReadAndWrite * touched * (row + Bytes(kept))
                                  : touched * row)};  // the sum of its gradients
}

}  // namespace

bool shares_tables(const RankShape& shape) {
  return shape.tables.placement != TablePlacement::replicated && shape.table_ranks > 1.0;
}

RankTables tables_on_rank(const Layer& layer, const RankShape& shape) {
  RankTables tables;
  if (layer.tables.empty()) return tables;
  const Placing placing(shape);
  const double group = placing.group();
  const double samples = shape.micro_batch * shape.table_ranks;
  for (const GroupLoad& load : placing.of(layer.tables)) {
    Traffic traffic;
    double held = 0.0;
    double states = 0.0;
    double pooled = 0.0;
    for (Shard shard : load.shards) {
      pooled += shard.width;
      shard.rows /= group;
      shard.lookups /= group;
      held += shard.rows * shard.width;
      states += shard.rows * states_of_row(shape.tables.optimizer, shard.width);
      const Traffic each = traffic_of(shard, samples, shape, true);
      traffic.forward += each.forward;
      traffic.backward += each.backward;
    }
    tables.placed = std::max(tables.placed, held);
    tables.states = std::max(tables.states, states);
    tables.pooled = std::max(tables.pooled, pooled);
    tables.forward = max(tables.forward, traffic.forward);
    tables.backward = max(tables.backward, traffic.backward);
  }
  for (const EmbeddingTable& table : layer.tables) {
    if (!placing.is_replicated(table)) continue;
    tables.replicated += table.rows * table.width;
    const Traffic each = traffic_of({table.rows, table.width, table.lookups, table.distinct, 0.0},
                                    shape.micro_batch, shape, false);
    tables.forward += each.forward;
    tables.backward += each.backward;
  }
  return tables;
}

TableMessages table_messages(const Layer& layer, const RankShape& shape) {
  if (layer.tables.empty() || !shares_tables(shape)) return {};
  const RankTables tables = tables_on_rank(layer, shape);
  const double group = Placing(shape).group();
  const double samples = shape.micro_batch * shape.table_ranks;
  const Bytes pooled(samples * tables.pooled * shape.element_bytes);
  TableMessages messages;
  if (group > 1.0) messages.summed = pooled;
  // Nobody receives more than the busiest sends: all receive as much, what is sent on average.
  if (group < shape.table_ranks) messages.swapped = 1.0 / group * pooled;
  return messages;
}

}  // namespace headway
