#include "sim/programs/stage_costs/product_shapes.h"

#include <algorithm>
#include <cmath>

#include "sim/costs/work_cost.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/layers/work.h"

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

void add_all(std::vector<ProductShape>& all, const Work& work, Precision precision) {
  for (const LinearWork& linear : work.linears) {
    const Precision kept = linear.wide ? wide_precision(precision) : precision;
    const std::string name(linear.name);
    add(all, kept, linear.forward, name + " forward");
    if (linear.input_gradient) add(all, kept, linear.data_gradient(), name + " data gradient");
    if (!linear.frozen) add(all, kept, linear.weight_gradient(), name + " weight gradient");
  }
}

}  // namespace

std::vector<ProductShape> product_shapes(const Model& model, const Strategy& strategy) {
  std::vector<ProductShape> all;
  const RankShape shape = rank_shape_of(strategy);
  const auto add_layer = [&](const Layer& layer, Precision precision, double adapters) {
    add_all(all, work(layer, shape, adapters), precision);
  };
  for (const Layer& layer : model.kinds) {
    add_layer(layer, strategy.precision, adapter_rank(strategy));
  }
  if (model.ahead.layers > 0) add_layer(model.ahead.join, strategy.precision, 0.0);
  add_layer(model.first, wide_precision(strategy.precision), 0.0);
  add_layer(model.last, wide_precision(strategy.precision), 0.0);
  return all;
}

}  // namespace headway
