#include "tests/calibrate/fake_cuda/graph_run.h"

#include <algorithm>
#include <cmath>

namespace fake_cuda {
namespace {

using Index = std::vector<std::int64_t>;

std::int64_t elements(const std::vector<std::int64_t>& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

/// Where an element stands. An axis of an operand that is shorter than the result's is shared by as
/// many neighbours of it as fit: rows by all columns, keys by a group of heads.
std::int64_t place(const GraphTensor& tensor, const Index& index, const Index& of_result) {
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    at += index[axis] * tensor.sizes[axis] / of_result[axis] * tensor.strides[axis];
  }
  return at;
}

double rounded(cudnnDataType_t type, double value) {
  if (type == CUDNN_DATA_BFLOAT16) {
    const unsigned bits = __float_as_uint(static_cast<float>(value));
    return __uint_as_float((bits + 0x7fffU + (bits >> 16U & 1U)) & 0xffff0000U);
  }
  return type == CUDNN_DATA_FLOAT ? static_cast<float>(value) : value;
}

double pointwise(cudnnPointwiseMode_t mode, double x, double y, double mask) {
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
      return x + y;
    case CUDNN_POINTWISE_SUB:
      return x - y;
    case CUDNN_POINTWISE_MUL:
      return x * y;
    case CUDNN_POINTWISE_DIV:
      return x / y;
    case CUDNN_POINTWISE_EXP:
      return std::exp(x);
    case CUDNN_POINTWISE_LOG:
      return std::log(x);
    case CUDNN_POINTWISE_CMP_GE:
      return x >= y ? 1.0 : 0.0;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return mask != 0.0 ? x : y;
    default:
      return x;
  }
}

class Runner {
 public:
  Runner(const OperationGraph& graph, const std::map<std::int64_t, void*>& memory)
      : graph_(graph), memory_(memory) {
    for (const auto& [number, tensor] : graph.tensors) {
      std::int64_t last = 0;
      for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
        last += (tensor.sizes[axis] - 1) * tensor.strides[axis];
      }
      auto& values = values_[number];
      values.resize(static_cast<std::size_t>(last) + 1);
      if (tensor.is_passing) continue;
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = loaded(tensor, i);
    }
  }

  void run(const GraphOperation& operation) {
    const GraphTensor& result = graph_.tensors.at(operation.result);
    std::vector<double>& to = values_.at(operation.result);
    const GraphTensor& x = graph_.tensors.at(operation.x);
    if (operation.kind == GraphOperation::Kind::reshape) {
      to = values_.at(operation.x);
    } else if (operation.kind == GraphOperation::Kind::reduction) {
      const bool is_sum = operation.reduction == CUDNN_REDUCE_TENSOR_ADD;
      std::fill(to.begin(), to.end(), is_sum ? 0.0 : -INFINITY);
      over(x.sizes, [&](const Index& index) {
        double& one = to[at(result, index, x.sizes)];
        const double value = values_.at(operation.x)[at(x, index, x.sizes)];
        one = is_sum ? one + value : std::max(one, value);
      });
    } else if (operation.kind == GraphOperation::Kind::product) {
      multiply(operation, result, to);
    } else {
      over(result.sizes, [&](const Index& index) {
        const auto value = [&](std::int64_t operand) {
          if (operand == 0) return 0.0;
          return values_.at(operand)[at(graph_.tensors.at(operand), index, result.sizes)];
        };
        to[at(result, index, result.sizes)] =
            operation.mode == CUDNN_POINTWISE_GEN_INDEX
                ? static_cast<double>(index[static_cast<std::size_t>(operation.axis)])
                : pointwise(operation.mode, value(operation.x), value(operation.y),
                            value(operation.mask));
      });
    }
    for (double& value : to) value = rounded(result.type, value);
    if (!result.is_passing) store(result, to);
  }

 private:
  static std::size_t at(const GraphTensor& tensor, const Index& index, const Index& of_result) {
    return static_cast<std::size_t>(place(tensor, index, of_result));
  }
  template <class Do>
  static void over(const Index& sizes, Do each) {
    Index index(sizes.size(), 0);
    for (std::int64_t left = elements(sizes); left > 0; --left) {
      each(index);
      for (std::size_t axis = sizes.size(); axis-- > 0;) {
        if (++index[axis] < sizes[axis]) break;
        index[axis] = 0;
      }
    }
  }
  void multiply(const GraphOperation& operation, const GraphTensor& result,
                std::vector<double>& to) {
    const GraphTensor& a = graph_.tensors.at(operation.x);
    const GraphTensor& b = graph_.tensors.at(operation.y);
    const double* const of_a = values_.at(operation.x).data();
    const double* const of_b = values_.at(operation.y).data();
    const Index all_a = {result.sizes[0], result.sizes[1], a.sizes[2], a.sizes[3]};
    const Index all_b = {result.sizes[0], result.sizes[1], b.sizes[2], b.sizes[3]};
    over(result.sizes, [&](const Index& index) {
      std::int64_t at_a = place(a, {index[0], index[1], index[2], 0}, all_a);
      std::int64_t at_b = place(b, {index[0], index[1], 0, index[3]}, all_b);
      double sum = 0.0;
      for (std::int64_t i = 0; i < a.sizes[3]; ++i) {
        sum += of_a[at_a] * of_b[at_b];
        at_a += a.strides[3];
        at_b += b.strides[2];
      }
      to[at(result, index, result.sizes)] = sum;
    });
  }
  double loaded(const GraphTensor& tensor, std::size_t i) const {
    const void* const from = memory_.at(tensor.number);
    if (tensor.type != CUDNN_DATA_BFLOAT16) return static_cast<const float*>(from)[i];
    return __uint_as_float(unsigned{static_cast<const std::uint16_t*>(from)[i]} << 16U);
  }
  void store(const GraphTensor& tensor, const std::vector<double>& values) const {
    void* const to = memory_.at(tensor.number);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<float>(values[i]);
      if (tensor.type != CUDNN_DATA_BFLOAT16) {
        static_cast<float*>(to)[i] = value;
      } else {
        static_cast<std::uint16_t*>(to)[i] =
            static_cast<std::uint16_t>(__float_as_uint(value) >> 16U);
      }
    }
  }

  const OperationGraph& graph_;
  const std::map<std::int64_t, void*>& memory_;
  std::map<std::int64_t, std::vector<double>> values_;
};

bool divides(const GraphTensor& operand, const Index& sizes) {
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] % operand.sizes[axis] != 0) return false;
  }
  return true;
}

}  // namespace

bool fits(const OperationGraph& graph) {
  for (const GraphOperation& operation : graph.operations) {
    const auto tensor = [&graph](std::int64_t number) { return graph.tensors.at(number); };
    const GraphTensor result = tensor(operation.result);
    const GraphTensor x = tensor(operation.x);
    switch (operation.kind) {
      case GraphOperation::Kind::reshape:
        if (elements(x.sizes) != elements(result.sizes)) return false;
        break;
      case GraphOperation::Kind::reduction:
        if (!divides(result, x.sizes)) return false;
        break;
      case GraphOperation::Kind::product: {
        const GraphTensor y = tensor(operation.y);
        if (x.sizes[3] != y.sizes[2] || x.sizes[2] != result.sizes[2] ||
            y.sizes[3] != result.sizes[3] || result.sizes[1] % y.sizes[1] != 0) {
          return false;
        }
        break;
      }
      case GraphOperation::Kind::pointwise:
        for (const std::int64_t operand : {operation.x, operation.y, operation.mask}) {
          if (operand != 0 && !divides(tensor(operand), result.sizes)) return false;
        }
    }
  }
  return true;
}

void run(const OperationGraph& graph, const std::map<std::int64_t, void*>& memory) {
  Runner runner(graph, memory);
  for (const GraphOperation& operation : graph.operations) runner.run(operation);
}

}  // namespace fake_cuda
