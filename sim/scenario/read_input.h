#pragma once

#include <optional>
#include <vector>

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

/// The samples that a job reads of a store, and what of them its nodes keep.
struct SampleReading {
  Bytes sample;                  ///< as it is stored
  double samples = 1.0;          ///< of the data set, which an epoch reads once in a random order
  double samples_of_file = 1.0;  ///< read one after the other once their file is open
  Bytes cache;                   ///< of a node, for samples
  CacheScope scope = CacheScope::node;
  int prefetch = 2;  ///< steps whose samples may wait in memory; 0: none is read ahead

  [[nodiscard]] Bytes data_set() const { return samples * sample; }
};

/// The "data_loading" of a scenario: samples on their way from a store through the hosts.
struct InputSettings : SampleReading {
  BytesPerSecond storage;       ///< of the store, for all that read
  std::optional<double> files;  ///< that it opens a second; nothing: as many as it is asked for
  int storage_nodes = 0;        ///< the last of the cluster; 0: the store has a network of its own
  bool holds_checkpoints = false;
  std::optional<double> cores;   ///< of an accelerator, that prepare samples
  double samples_of_core = 0.0;  ///< a second

  /// At which the store gives such samples while it does nothing else: as many bytes as it can, or
  /// as many files.
  [[nodiscard]] BytesPerSecond rate_for(const SampleReading& reading) const;
};

[[nodiscard]] std::vector<FieldDescription> data_loading_field_descriptions();

/// Of another job on the same store.
[[nodiscard]] const FieldTable<SampleReading>& sample_reading_fields();

/// What the rest of the scenario says of a store.
struct StoreContext {
  int free_nodes = 0;  ///< of the cluster, behind those of all jobs
  bool has_parameter_servers = false;
  bool checkpoints_beside_steps = false;
};

/// Nothing if there is none. `context` is nothing where the rest could not be read.
[[nodiscard]] std::optional<InputSettings> read_input(ObjectReader& scenario,
                                                      const std::optional<StoreContext>& context);

}  // namespace headway
