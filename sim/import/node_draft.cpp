#include "sim/import/node_draft.h"

#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"

namespace headway {

nlohmann::json NodeDraft::node_type(const std::string& source) {
  if (!request_.accelerator.empty()) accelerator = request_.accelerator;
  if (request_.bandwidth) nic_bandwidth = *request_.bandwidth;
  if (request_.scale_up_bandwidth) scale_up_bandwidth = *request_.scale_up_bandwidth;
  if (accelerator.empty()) {
    accelerator = "any";
    assume("which accelerator it is cannot be told from the file: any profile goes with it");
  }
  if (nics == 0) {
    nics = accelerators;
    nearest.clear();
    assume("network cards are not in the file: one for each accelerator is taken");
  }
  const SourceLocation file{.file = request_.paths.front()};
  if (nic_bandwidth == BytesPerSecond(0.0)) {
    fail("the file does not tell how fast the network cards are", file,
         "say it: --bandwidth \"400 Gb/s\"");
  }
  const bool has_scale_up = accelerators > 1;
  if (has_scale_up && scale_up_bandwidth == BytesPerSecond(0.0)) {
    fail("the file does not tell what joins the accelerators", file,
         "say it, one way: --scale-up-bandwidth \"450 GB/s\"");
  }
  if (has_failed()) return nullptr;
  nlohmann::json type = {{"schema", "headway/node/1"},
                         {"name", request_.name},
                         {"accelerator", accelerator},
                         {"accelerators", accelerators}};
  type["nics"] = {{"count", nics}, {"bandwidth", exact_text(nic_bandwidth)}};
  if (!nearest.empty()) type["nics"]["nearest"] = nearest;
  if (has_scale_up) type["scale_up"] = {{"bandwidth", exact_text(scale_up_bandwidth)}};
  type["source"] = this->source(source);
  return type;
}

}  // namespace headway
