#include "calibrate/cuda/device_collectives.h"
#include "sim/base/diagnostic.h"

namespace headway {

class DeviceCollectives::Library {};

std::string DeviceCollectives::lacks() { return "built without NCCL"; }
std::string DeviceCollectives::version() { return ""; }
std::vector<DeviceCollectives::Implementation> DeviceCollectives::implementations() { return {}; }

DeviceCollectives::DeviceCollectives(Rendezvous& /*rendezvous*/, int /*devices*/, int /*device*/) {}
DeviceCollectives::~DeviceCollectives() = default;
std::unique_ptr<Operation> DeviceCollectives::prepare(const CollectivePoint& /*point*/,
                                                      Seconds /*gap*/) {
  HEADWAY_CHECK(false, "collectives were not offered");
}
std::unique_ptr<DeviceWork> DeviceCollectives::work(const CollectivePoint& /*point*/,
                                                    Seconds /*time*/, Seconds /*gap*/) {
  HEADWAY_CHECK(false, "collectives were not offered");
}

}  // namespace headway
