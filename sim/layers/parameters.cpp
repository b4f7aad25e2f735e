#include "sim/layers/parameters.h"

#include <algorithm>
#include <numeric>

#include "sim/layers/tables.h"

namespace headway {
namespace {

double& of(Parameters& parameters, Part part) {
  return parameters.by_part[static_cast<std::size_t>(part)];
}

void add_products(Parameters& sum, const Layer& layer, const RankShape& shape) {
  for (const Product& product : layer.products) {
    const double outputs = outputs_on_rank(product, shape);
    const double matrix = outputs * inputs_on_rank(product, shape);
    const double copies =
        product.copies > 1.0 ? product.copies / shape.expert_parallel : product.copies;
    of(sum, product.part) += copies * (matrix + (product.bias ? outputs : 0.0));
  }
}

/// The head's share of the matrix that it and the embedding have in common.
Parameters without_tied(const Model& model) {
  Parameters head = parameters(model.last);
  if (model.tied) of(head, Part::head) -= tied_parameters(model);
  return head;
}

}  // namespace

double Parameters::total() const { return std::accumulate(by_part.begin(), by_part.end(), 0.0); }

Parameters& Parameters::operator+=(const Parameters& other) {
  for (std::size_t part = 0; part < kParts; ++part) by_part[part] += other.by_part[part];
  return *this;
}

Parameters operator*(double times, Parameters parameters) {
  for (double& count : parameters.by_part) count *= times;
  return parameters;
}

Parameters parameters(const Layer& layer) { return parameters_on_rank(layer, {}); }

Parameters parameters_on_rank(const Layer& layer, const RankShape& shape) {
  Parameters sum;
  add_products(sum, layer, shape);
  for (const Weights& weights : layer.weights) {
    of(sum, weights.part) += weights.count / shape.parts(weights.cut);
  }
  if (!layer.tables.empty()) {
    const RankTables tables = tables_on_rank(layer, shape);
    of(sum, Part::embedding) += tables.replicated;
    of(sum, Part::tables) += tables.placed;
  }
  return sum;
}

Parameters parameters(const Model& model) {
  Parameters sum = parameters(model.first);
  std::vector<double> times(model.kinds.size());
  for (const int kind : model.layers) times[static_cast<std::size_t>(kind)] += 1.0;
  for (std::size_t kind = 0; kind < times.size(); ++kind) {
    sum += times[kind] * parameters(model.kinds[kind]);
  }
  sum += without_tied(model);
  return sum;
}

std::int64_t parameter_count(const Model& model) {
  return static_cast<std::int64_t>(parameters(model).total());
}

MatrixCount parameter_matrices(const Layer& layer) {
  MatrixCount count;
  for (const Product& product : layer.products) {
    double& kind = product.part == Part::experts ? count.experts : count.shared;
    kind += product.copies;
  }
  for (const Weights& weights : layer.weights) {
    if (weights.part == Part::embedding || weights.part == Part::positions) count.shared += 1.0;
  }
  return count;
}

double parameter_tensors(const Layer& layer) {
  double count = 0.0;
  for (const Product& product : layer.products) {
    if (product.part != Part::experts) count += product.copies * (product.bias ? 2.0 : 1.0);
  }
  for (const Weights& weights : layer.weights) count += weights.tensors;
  return count;
}

double largest_tensor(const Model& model, const RankShape& shape) {
  double largest = 0.0;
  for (const Layer& kind : model.kinds) {
    for (const Product& product : kind.products) {
      largest = std::max(largest, outputs_on_rank(product, shape) * inputs_on_rank(product, shape));
    }
  }
  return largest;
}

double tied_parameters(const Model& model) { return parameters(model.first).of(Part::embedding); }

}  // namespace headway
