#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/cluster/import_format.h"

namespace headway {

/// A node type while it is imported: what was found, and what had to be assumed.
class NodeDraft {
 public:
  NodeDraft(const ImportRequest& request, Diagnostics& diagnostics)
      : request_(request), diagnostics_(diagnostics) {}

  /// Warns, and keeps the text for the object's "source".
  void assume(std::string message);
  void fail(std::string message, std::string help = "");

  std::string accelerator;  ///< as profiles name it; empty if the file does not tell
  int accelerators = 0;
  BytesPerSecond scale_up_bandwidth;  ///< 0 if the file does not tell
  int nics = 0;
  BytesPerSecond nic_bandwidth;  ///< 0 if the file does not tell
  std::vector<int> nearest;      ///< NIC of each accelerator; empty: spread evenly

  /// The node type object, or null with diagnostics. What the user says wins over the file.
  [[nodiscard]] nlohmann::json node_type(const std::string& source);

 private:
  const ImportRequest& request_;
  Diagnostics& diagnostics_;
  std::string assumptions_;
};

}  // namespace headway
