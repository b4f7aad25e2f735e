#include "calibrate/cli/backends.h"
#include "calibrate/cuda/cuda_backend.h"

namespace headway {

int calibrate_cuda(const Job& job, const PlanRules& rules) {
  CudaBackend backend(job.options.seed);
  SingleRendezvous alone;
  return calibrate(job, rules, backend, alone);
}

}  // namespace headway
