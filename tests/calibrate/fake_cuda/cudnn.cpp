// cuDNN's graph interface: descriptors that keep what they are told, graphs of attention that take
// the time of the law, small ones done operation by operation.
#include <cudnn_graph.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "tests/calibrate/fake_cuda/device.h"
#include "tests/calibrate/fake_cuda/graph_run.h"
#include "tests/calibrate/fake_cuda/law.h"

struct cudnnContext {
  int device = 0;
  cudaStream_t stream = nullptr;
};

namespace {

using fake_cuda::GraphOperation;
using fake_cuda::GraphTensor;
using fake_cuda::OperationGraph;

struct Descriptor {
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool is_final = false;
  std::map<cudnnBackendAttributeName_t, std::vector<std::int64_t>> numbers;
  std::map<cudnnBackendAttributeName_t, std::vector<void*>> pointers;
  OperationGraph graph;  ///< of a graph, and what is made of it
};

thread_local std::string last_words;

cudnnStatus_t refused(cudnnStatus_t status, const std::string& words) {
  last_words = words;
  return status;
}

Descriptor& of(void* descriptor) { return *static_cast<Descriptor*>(descriptor); }

Descriptor* child(const Descriptor& parent, cudnnBackendAttributeName_t name) {
  const auto found = parent.pointers.find(name);
  return found == parent.pointers.end() ? nullptr : &of(found->second.front());
}
std::int64_t number(const Descriptor& descriptor, cudnnBackendAttributeName_t name) {
  const auto found = descriptor.numbers.find(name);
  return found == descriptor.numbers.end() ? 0 : found->second.front();
}

/// The tensor's number, which the graph knows from now on; 0 where there is none.
std::int64_t known(OperationGraph& graph, const Descriptor* tensor) {
  if (tensor == nullptr) return 0;
  GraphTensor one;
  one.number = number(*tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID);
  one.type = static_cast<cudnnDataType_t>(number(*tensor, CUDNN_ATTR_TENSOR_DATA_TYPE));
  one.sizes = tensor->numbers.at(CUDNN_ATTR_TENSOR_DIMENSIONS);
  one.strides = tensor->numbers.at(CUDNN_ATTR_TENSOR_STRIDES);
  one.is_passing = number(*tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0;
  one.is_scalar = number(*tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0;
  graph.tensors[one.number] = one;
  return one.number;
}

void add_operation(OperationGraph& graph, const Descriptor& operation) {
  const auto tensor = [&](cudnnBackendAttributeName_t name) {
    return known(graph, child(operation, name));
  };
  GraphOperation one;
  switch (operation.type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      one.kind = GraphOperation::Kind::product;
      one.x = tensor(CUDNN_ATTR_OPERATION_MATMUL_ADESC);
      one.y = tensor(CUDNN_ATTR_OPERATION_MATMUL_BDESC);
      one.result = tensor(CUDNN_ATTR_OPERATION_MATMUL_CDESC);
      break;
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      one.kind = GraphOperation::Kind::reduction;
      one.reduction = static_cast<cudnnReduceTensorOp_t>(number(
          *child(operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC), CUDNN_ATTR_REDUCTION_OPERATOR));
      one.x = tensor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
      one.result = tensor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
      break;
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      one.kind = GraphOperation::Kind::reshape;
      one.x = tensor(CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
      one.result = tensor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
      break;
    default: {
      const Descriptor& mode = *child(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
      one.mode = static_cast<cudnnPointwiseMode_t>(number(mode, CUDNN_ATTR_POINTWISE_MODE));
      one.axis = number(mode, CUDNN_ATTR_POINTWISE_AXIS);
      one.x = tensor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
      one.y = tensor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
      one.mask = tensor(CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
      one.result = tensor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
    }
  }
  graph.operations.push_back(one);
}

/// The queries of attention are what is multiplied first.
const GraphTensor& queries(const OperationGraph& graph) {
  const auto first = std::find_if(
      graph.operations.begin(), graph.operations.end(),
      [](const auto& operation) { return operation.kind == GraphOperation::Kind::product; });
  return graph.tensors.at(first->x);
}

double attention_time(const OperationGraph& graph) {
  long products = 0;
  bool is_causal = false;
  for (const GraphOperation& operation : graph.operations) {
    products += operation.kind == GraphOperation::Kind::product ? 1 : 0;
    is_causal = is_causal || operation.mode == CUDNN_POINTWISE_GEN_INDEX;
  }
  const auto& sizes = queries(graph).sizes;
  return fake_cuda::attention_time({static_cast<double>(sizes[0]), static_cast<double>(sizes[1]),
                                    static_cast<double>(sizes[2]), static_cast<double>(sizes[3]),
                                    is_causal, products > 2});
}

cudnnStatus_t finalised(Descriptor& one) {
  switch (one.type) {
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      for (void* operation : one.pointers.at(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
        add_operation(one.graph, of(operation));
      }
      if (!fits(one.graph)) return refused(CUDNN_STATUS_BAD_PARAM, "tensors that do not fit");
      break;
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      one.graph = child(one, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)->graph;
      break;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      one.graph = child(one, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->graph;
      fake_cuda::pass_host_time(0.05);  // compiled
      break;
    default:
      break;
  }
  one.is_final = true;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {
std::size_t cudnnGetVersion() { return 91900; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_NOT_SUPPORTED     ? "CUDNN_STATUS_NOT_SUPPORTED"
         : status == CUDNN_STATUS_NOT_INITIALIZED ? "CUDNN_STATUS_NOT_INITIALIZED"
                                                  : "CUDNN_STATUS";
}
void cudnnGetLastErrorString(char* message, std::size_t most) {
  std::snprintf(message, most, "%s", last_words.c_str());
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (fake_cuda::fault() == "no_cudnn") {
    return refused(CUDNN_STATUS_NOT_INITIALIZED, "libcudnn_graph.so.9 was not found");
  }
  fake_cuda::pass_host_time(0.1);
  *handle = new cudnnContext{fake_cuda::current_device()};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (fake_cuda::device_of(stream) != handle->device) return CUDNN_STATUS_BAD_PARAM;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  *descriptor = new Descriptor{type};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete &of(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  Descriptor& one = of(descriptor);
  if (one.is_final) return refused(CUDNN_STATUS_BAD_PARAM, "a finished descriptor does not change");
  const auto size = static_cast<std::size_t>(count);
  const auto keep = [&]<class Value>(Value) {
    const auto* const all = static_cast<const Value*>(values);
    one.numbers[name].assign(all, all + size);
  };
  switch (type) {
    case CUDNN_TYPE_INT64:
      keep(std::int64_t{});
      break;
    case CUDNN_TYPE_BOOLEAN:
      keep(bool{});
      break;
    case CUDNN_TYPE_CHAR:
      keep(char{});
      break;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: {
      auto* const* const all = static_cast<void* const*>(values);
      if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR &&
          !std::all_of(all, all + size, [](void* other) { return of(other).is_final; })) {
        return refused(CUDNN_STATUS_BAD_PARAM, "a descriptor that is not finished");
      }
      one.pointers[name].assign(all, all + size);
      break;
    }
    default:  // modes and types of data
      keep(int{});
  }
  return CUDNN_STATUS_SUCCESS;
}
/// Flash attention has heads of a multiple of 8 elements, up to 128.
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, std::int64_t requested,
                                       std::int64_t* count, void* values) {
  const Descriptor& one = of(descriptor);
  if (!one.is_final) return refused(CUDNN_STATUS_BAD_PARAM, "asked before it was finished");
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
    *static_cast<std::int64_t*>(values) = 1 << 20;
    return CUDNN_STATUS_SUCCESS;
  }
  const std::int64_t head = queries(one.graph).sizes[3];
  const std::int64_t found = head % 8 == 0 && head <= 128 ? 1 : 0;
  if (requested == 0) {  // how many there may be
    *count = found;
    return CUDNN_STATUS_SUCCESS;
  }
  *count = found;
  Descriptor& choice = of(*static_cast<cudnnBackendDescriptor_t*>(values));
  choice.graph = one.graph;
  choice.is_final = true;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return finalised(of(descriptor));
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  const OperationGraph& graph = of(plan).graph;
  const double time = attention_time(graph);
  if (fake_cuda::put_work(handle->stream, time, 5e-6, "cudnnBackendExecute") != cudaSuccess) {
    return refused(CUDNN_STATUS_EXECUTION_FAILED, "the device failed");
  }
  const auto& numbers = of(pack).numbers.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto& pointers = of(pack).pointers.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::map<std::int64_t, void*> memory;
  for (std::size_t i = 0; i < numbers.size(); ++i) memory[numbers[i]] = pointers[i];
  for (const auto& [tensor, what] : graph.tensors) {
    if (!what.is_passing && !memory.contains(tensor)) {
      return refused(CUDNN_STATUS_BAD_PARAM, "a tensor without memory");
    }
  }
  const auto& sizes = queries(graph).sizes;
  constexpr std::int64_t kMost = 1
                                 << 26;  // larger ones, and those of graphs, are timed and not done
  const bool is_small = sizes[0] * sizes[1] * sizes[2] * sizes[2] * sizes[3] <= kMost;
  if (is_small && !fake_cuda::is_captured(handle->stream)) fake_cuda::run(graph, memory);
  return CUDNN_STATUS_SUCCESS;
}
}
