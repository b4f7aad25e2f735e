#include "sim/programs/stage_costs/product_shapes.h"

#include <algorithm>
#include <cmath>

#include "sim/jobs/stage_parameters.h"
#include "sim/programs/stage_costs/rank_work.h"

namespace headway {
namespace {

void add(std::vector<ProductShape>& all, Precision precision, const GemmShape& shape,
         const std::string& use) {
  const GemmShape whole{std::ceil(shape.m), std::ceil(shape.n), std::ceil(shape.k)};
  const auto known = std::find_if(all.begin(), all.end(), [&](const ProductShape& product) {
    return product.precision == precision && product.shape.m == whole.m &&
           product.shape.n == whole.n && product.shape.k == whole.k;
  });
  auto& uses = known == all.end() ? all.emplace_back(precision, whole).uses : known->uses;
  if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
}

void add_all(std::vector<ProductShape>& all, const Operators& work, Precision precision) {
  for (const LinearOperator& linear : work.linears) {
    const Precision kept = linear.wide ? wide_precision(precision) : precision;
    const LinearProducts products = linear_products(linear.forward);
    const std::string name(linear.name);
    add(all, kept, products.forward, name + " forward");
    add(all, kept, products.data_gradient, name + " data gradient");
    if (!linear.frozen) add(all, kept, products.weight_gradient, name + " weight gradient");
  }
}

}  // namespace

std::vector<ProductShape> product_shapes(const TransformerModel& model, const Strategy& strategy) {
  std::vector<ProductShape> all;
  const auto counts = kinds_of_layers(model, {0, static_cast<int>(model.layers)});
  for (const LayerKind kind : layer_kinds()) {
    if (counts[kind.index()] == 0) continue;
    add_all(all, layer_work(model, strategy, kind), strategy.precision);
  }
  if (model.multi_token_prediction_layers > 0) {
    add_all(all, prediction_join_operators(model, shard_of(strategy)), strategy.precision);
  }
  add_all(all, head_work(model, strategy), wide_precision(strategy.precision));
  return all;
}

}  // namespace headway
