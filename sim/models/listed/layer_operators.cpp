#include "sim/models/listed/layer_operators.h"

namespace headway {

std::span<const LayerOperator> layer_operators() {
  static const std::vector<LayerOperator> kOperators = [] {
    std::vector<LayerOperator> all;
    for (std::vector<LayerOperator> (*some)() :
         {convolution_operators, elementary_operators, table_operators, sequence_operators}) {
      for (LayerOperator& one : some()) all.push_back(std::move(one));
    }
    return all;
  }();
  return kOperators;
}

}  // namespace headway
