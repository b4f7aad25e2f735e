#pragma once

#include <string>

#include "sim/base/diagnostic.h"
#include "sim/files/json_reader.h"
#include "sim/jobs/synchronisation/read_synchronisation.h"

namespace headway {

/// The synchronisation that a job has whose "synchronisation" is this object.
inline Synchronisation synchronisation_of(const std::string& object) {
  Diagnostics diagnostics;
  const auto document =
      JsonDocument::parse("strategy.json", R"({"synchronisation": )" + object + "}", diagnostics);
  ObjectReader strategy{JsonCursor(document), diagnostics};
  return read_synchronisation(strategy, {});
}

}  // namespace headway
