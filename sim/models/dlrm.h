#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/words.h"
#include "sim/layers/model.h"

namespace headway {

/// How what was looked up meets in a recommendation model.
enum class Interaction {
  dot,   ///< products of all pairs of vectors (Naumov et al. 2019)
  cross  ///< cross layers of low rank (DCN v2: Wang et al. 2021)
};
template <>
inline constexpr Word<Interaction> kWords<Interaction>[] = {{"dot", Interaction::dot},
                                                            {"cross", Interaction::cross}};

/// A deep learning recommendation model (DLRM: Naumov et al. 2019, arXiv:1906.00091), with dot
/// products or, as MLPerf trains it since 2023, with cross layers (DCN v2, arXiv:2008.13535).
struct DlrmModel {
  std::string name = {};
  std::string source = {};
  std::vector<std::int64_t> table_rows = {};
  std::vector<std::int64_t> lookups = {};  ///< of a sample, by table; empty: 1 each
  double distinct_lookups = 1.0;           ///< share of a step's, popular rows once
  std::int64_t embedding_width = 128;
  std::int64_t dense_features = 13;
  std::vector<std::int64_t> bottom_mlp = {512, 256, 128};
  std::vector<std::int64_t> top_mlp = {1024, 1024, 512, 256, 1};
  Interaction interaction = Interaction::dot;
  std::int64_t cross_layers = 3;
  std::int64_t cross_rank = 512;
};

/// Kernels of embedding bags: ids put in the order of the ranks and rows looked up; backward ids
/// sorted (a histogram and four passes), gradients of equal ids added up, rows updated.
inline constexpr Launches kTableKernels{2.0, 8.0};

/// One fused kernel for all pairs of vectors, `input` elements of them (their products are not
/// counted as operations: 27 vectors of 128 make 4 % of those of DLRM).
[[nodiscard]] MemoryPass pairs_pass(double input, double output);

/// The tables and the bottom MLP are a layer, which do not wait for each other; then each cross
/// layer, or all dot products, and each layer of the top MLP. A token is a sample. Requires a width
/// of the bottom MLP's last layer equal to that of the tables, and as many lookups as tables or
/// none.
[[nodiscard]] Model layers_of(const DlrmModel& fields);

}  // namespace headway
