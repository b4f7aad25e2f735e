#include "calibrate/cuda/nccl/nccl_implementation.h"

#include <algorithm>

#include "calibrate/cuda/nccl/nccl_api.h"
#include "sim/base/diagnostic.h"

namespace headway {

const std::vector<NcclImplementation>& nccl_implementations() {
  static const std::vector<NcclImplementation> all = {
      {"nccl", BufferRegistration::none, false},
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
      {"nccl, registered buffers", BufferRegistration::local, false},
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
      {"nccl, symmetric buffers", BufferRegistration::symmetric, false},
#endif
      {"nccl, all groups at once", BufferRegistration::none, true}};
  return all;
}

const NcclImplementation& nccl_implementation(const std::string& name) {
  const auto& all = nccl_implementations();
  const auto found =
      std::find_if(all.begin(), all.end(), [&name](const auto& one) { return one.name == name; });
  HEADWAY_CHECK(found != all.end(), "an implementation that was not offered");
  return *found;
}

}  // namespace headway
