#pragma once

#include "sim/base/units.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"

namespace headway {

/// Weights of tables and what their optimizer keeps are fp32.
inline constexpr double kTableBytes = 4.0;

/// What a rank has of a layer's embedding bags: each figure is that of the rank with most of it.
struct RankTables {
  double replicated = 0.0;  ///< parameters that all ranks hold and reduce gradients of
  double placed = 0.0;      ///< the others
  double states = 0.0;      ///< values that the optimizer keeps of those
  /// Pooled elements of a sample, of one group of ranks (a table that is cut by rows counts once for
  /// each part, as every part pools a row of its own).
  double pooled = 0.0;
  /// Traffic in the memory of the device, in a micro-batch of every rank. Forward: rows that are
  /// looked up, and what they are pooled to. Backward: a pooled gradient for each lookup, their ids
  /// sorted, and every row that was looked up read and written with its states. Popular rows count
  /// once, which caches have from then on (`EmbeddingTable::distinct`).
  Bytes forward;
  Bytes backward;
};
[[nodiscard]] RankTables tables_on_rank(const Layer& layer, const RankShape& shape);

/// What a rank of the job hands the others in a pass, its own part included: partial sums inside
/// its group, then pooled rows to the ranks of the samples (backward: gradients the other way).
struct TableMessages {
  Bytes summed;   ///< nothing with groups of one
  Bytes swapped;  ///< nothing where one group is all
};
[[nodiscard]] TableMessages table_messages(const Layer& layer, const RankShape& shape);

/// Whether they exchange anything.
[[nodiscard]] bool shares_tables(const RankShape& shape);

}  // namespace headway
