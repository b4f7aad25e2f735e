#pragma once

#include "sim/base/units.h"
#include "sim/base/words.h"

namespace headway {

/// Where the tables of embedding bags stand on the ranks that share them out.
enum class TablePlacement {
  table,      ///< each whole on one of them, the costliest first where there is least to do
  row,        ///< some rows of each on every rank, which pools what it has; the parts are added up
  column,     ///< some columns of each on every rank
  balanced,   ///< as by table, but rows of costly tables are cut until no rank has more to do
  replicated  ///< all on every rank, whose gradients are reduced like any others
};
template <>
inline constexpr Word<TablePlacement> kWords<TablePlacement>[] = {
    {"table", TablePlacement::table},
    {"row", TablePlacement::row},
    {"column", TablePlacement::column},
    {"balanced", TablePlacement::balanced},
    {"replicated", TablePlacement::replicated}};

/// How rows that were looked up are updated, and what is kept of each for that.
enum class TableOptimizer {
  sgd,              ///< nothing
  rowwise_adagrad,  ///< a value a row
  adagrad,          ///< a value an element
  adam              ///< two values an element
};
template <>
inline constexpr Word<TableOptimizer> kWords<TableOptimizer>[] = {
    {"sgd", TableOptimizer::sgd},
    {"rowwise_adagrad", TableOptimizer::rowwise_adagrad},
    {"adagrad", TableOptimizer::adagrad},
    {"adam", TableOptimizer::adam}};

/// How a job places the tables of its model.
struct TablePlan {
  TablePlacement placement = TablePlacement::table;
  /// Ranks in a row that cut the rows of what is placed on them, and add up what they pooled before
  /// it leaves them.
  int group = 1;
  Bytes replicated_below = Bytes(0.0);  ///< smaller tables stand on every rank
  /// Balanced: lookups that cost a rank as much as sending one pooled row.
  double exchange_cost = 1.9;
  TableOptimizer optimizer = TableOptimizer::rowwise_adagrad;
  friend bool operator==(const TablePlan&, const TablePlan&) = default;
};

}  // namespace headway
