#include "calibrate/cuda/cudnn/cudnn_plan.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "calibrate/cuda/cuda_check.h"
#include "calibrate/cuda/cudnn/cudnn_check.h"

namespace headway {
namespace {

CudnnDescriptor compiled(const CudnnDescriptor& choice, const CudnnTarget& target) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, choice);
  if (target.handle != nullptr) {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, &target.handle);
  } else {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
  }
  plan.finish();
  return plan;
}

CudnnDescriptor first_compiled(const std::vector<CudnnDescriptor>& choices,
                               const CudnnTarget& target) {
  std::string reason = "cuDNN has no kernel for it";
  for (const CudnnDescriptor& choice : choices) {
    try {
      return compiled(choice, target);
    } catch (const EnvironmentError& error) {
      reason = error.what();
    }
  }
  throw EnvironmentError(reason);
}

std::int64_t number_of(const CudnnDescriptor& descriptor, cudnnBackendAttributeName_t name) {
  std::int64_t number = 0;
  std::int64_t count = 0;
  HEADWAY_CUDA(cudnnBackendGetAttribute(descriptor, name, CUDNN_TYPE_INT64, 1, &count, &number));
  return number;
}

}  // namespace

CudnnDescriptor described_device(const std::string& json) {
  CudnnDescriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, json.data(),
             static_cast<std::int64_t>(json.size()));
  device.finish();
  return device;
}

std::vector<CudnnDescriptor> engine_choices(const CudnnDescriptor& graph,
                                            const CudnnTarget& target) {
  CudnnDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, &mode);
  if (target.handle == nullptr) {
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.properties);
  }
  heuristic.finish();

  std::int64_t most = 0;
  HEADWAY_CUDA(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &most, nullptr));
  std::vector<CudnnDescriptor> choices;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::int64_t i = 0; i < most; ++i) {
    handles.push_back(choices.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  }
  std::int64_t found = 0;
  if (most > 0) {
    HEADWAY_CUDA(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                          CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &found,
                                          handles.data()));
  }
  while (static_cast<std::int64_t>(choices.size()) > found) choices.pop_back();
  return choices;
}

CudnnPlan::CudnnPlan(CudnnGraph operations, const CudnnTarget& target)
    : operations_(std::move(operations)),
      graph_(operations_.finished(target.handle)),
      choices_(engine_choices(graph_, target)),
      plan_(first_compiled(choices_, target)),
      workspace_bytes_(
          static_cast<std::size_t>(number_of(plan_, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE))) {}

void CudnnPlan::run(cudnnHandle_t handle, const std::map<CudnnGraph::Tensor, void*>& memory,
                    void* workspace) const {
  std::vector<std::int64_t> numbers;
  std::vector<void*> pointers;
  for (const auto& [tensor, pointer] : memory) {
    numbers.push_back(tensor);
    pointers.push_back(pointer);
  }
  for (const auto& [tensor, value] : operations_.scalars()) {
    numbers.push_back(tensor);
    pointers.push_back(const_cast<float*>(&value));  // the interface has no pointers to constants
  }
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, numbers);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers.data(),
           static_cast<std::int64_t>(pointers.size()));
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, &workspace);
  pack.finish();
  HEADWAY_CUDA(cudnnBackendExecute(handle, plan_, pack));
}

}  // namespace headway
