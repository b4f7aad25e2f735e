#pragma once

#include <vector>

#include "sim/base/units.h"
#include "sim/files/input_files.h"
#include "sim/files/json_reader.h"

namespace headway {

/// How many nodes a provider had to give away, as somebody recorded it: from `time` on `nodes`,
/// until the next. Times ascend from 0. The last one ends the record, which then begins anew.
struct AvailabilityRecord {
  struct Step {
    Seconds time;
    int nodes = 0;
  };
  std::vector<Step> steps;

  [[nodiscard]] Seconds length() const { return steps.back().time; }
};

/// Nodes that the job has while the provider has that many to give away.
struct SpotNodes {
  AvailabilityRecord record;
  int nodes = 1;   ///< that the job takes at most
  Seconds notice;  ///< between the warning and the end
};

/// Reads "availability" of `reader`: the name of a file, or the steps in place, each ["21529 s",
/// 4].
///
/// The file has a line for each step, a time in seconds and a number of nodes with a comma between
/// them ("21529,4"); of several at one time the last counts, so that files which draw a step with
/// both of its ends may stay as they are. Lines of # and empty lines say nothing.
///
/// Nothing if something is wrong, which is reported with its place. Resolves to the steps in place.
[[nodiscard]] std::optional<AvailabilityRecord> read_availability(ObjectReader& reader,
                                                                  InputFiles& files);

}  // namespace headway
