#include "sim/network/placement.h"

#include "sim/base/diagnostic.h"

namespace headway {

int Placement::accelerator(int tensor_index, int context_index, int data_index,
                           int pipeline_index) const {
  int offset = 0;
  int stride = 1;  // of the next dimension: the product of the degrees further in
  const auto add = [&](int index, int degree) {
    const bool is_within = index >= 0 && index < degree;
    HEADWAY_CHECK(is_within, "a coordinate lies within its degree");
    offset += index * stride;
    stride *= degree;
  };
  for (const ParallelDimension dimension : order) {
    switch (dimension) {
      case ParallelDimension::tensor:
        add(tensor_index, tensor);
        break;
      case ParallelDimension::context:
        add(context_index, context);
        break;
      case ParallelDimension::data:
        add(data_index, data);
        break;
      case ParallelDimension::pipeline:
        add(pipeline_index, pipeline);
        break;
    }
  }
  HEADWAY_CHECK(stride == ranks(), "the order of a placement names each dimension once");
  return first_accelerator + offset;
}

std::optional<ReplicaStage> Placement::owner(int accelerator) const {
  int rest = accelerator - first_accelerator;
  if (rest < 0 || rest >= ranks()) return std::nullopt;
  ReplicaStage owner;
  for (const ParallelDimension dimension : order) {
    switch (dimension) {
      case ParallelDimension::tensor:
        rest /= tensor;
        break;
      case ParallelDimension::context:
        rest /= context;
        break;
      case ParallelDimension::data:
        owner.replica = rest % data;
        rest /= data;
        break;
      case ParallelDimension::pipeline:
        owner.stage = rest % pipeline;
        rest /= pipeline;
        break;
    }
  }
  return owner;
}

}  // namespace headway
