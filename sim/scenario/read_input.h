#pragma once

#include <optional>

#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/files/field_table.h"

namespace headway {

/// Whose samples a node's cache holds.
enum class CacheScope {
  node,  ///< those that the node has read: every epoch deals them out anew
  job    ///< a part of the set for each node, which serves it to all
};
template <>
inline constexpr Word<CacheScope> kWords<CacheScope>[] = {{"node", CacheScope::node},
                                                          {"job", CacheScope::job}};

/// The "data_loading" of a scenario: samples on their way from storage through the hosts.
struct InputSettings {
  Bytes sample;            ///< as it is stored
  double samples = 1.0;    ///< of the data set, which an epoch reads once in a random order
  BytesPerSecond storage;  ///< of the job as a whole
  Bytes cache;             ///< of a node, for samples
  CacheScope scope = CacheScope::node;
  std::optional<double> cores;   ///< of an accelerator, that prepare samples
  double samples_of_core = 0.0;  ///< a second

  [[nodiscard]] Bytes data_set() const { return samples * sample; }
};

[[nodiscard]] const FieldTable<InputSettings>& data_loading_fields();

/// Nothing if there is none.
[[nodiscard]] std::optional<InputSettings> read_input(ObjectReader& scenario);

}  // namespace headway
