#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/import/import_format.h"
#include "sim/import/import_notes.h"

namespace headway {

/// A node type while it is imported.
class NodeDraft : public ImportNotes {
 public:
  NodeDraft(const ImportRequest& request, Diagnostics& diagnostics)
      : ImportNotes(diagnostics), request_(request) {}

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
};

}  // namespace headway
