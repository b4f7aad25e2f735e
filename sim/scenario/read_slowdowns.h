#pragma once

#include <vector>

#include "sim/files/json_reader.h"
#include "sim/network/cluster.h"
#include "sim/programs/perturbation/slowdowns.h"

namespace headway {

/// Reads the parts of "perturbations" that begin and end while an iteration runs. Without a cluster
/// (it could not be read) what is named in it is not looked for.
class SlowdownReader {
 public:
  SlowdownReader(const Cluster* cluster, Diagnostics& diagnostics)
      : cluster_(cluster), diagnostics_(diagnostics) {}

  [[nodiscard]] std::vector<SlowEpisode> slow_episodes(ObjectReader& perturbations) const;
  [[nodiscard]] std::vector<Pauses> pauses(ObjectReader& perturbations) const;
  /// "slow_links": both directions of every cable that is named, or of a NIC.
  [[nodiscard]] std::vector<LinkEpisode> link_episodes(ObjectReader& perturbations) const;
  /// "background_traffic": what two nodes send each other for somebody else.
  [[nodiscard]] std::vector<BackgroundFlow> background(ObjectReader& perturbations) const;

 private:
  /// Of "accelerator" or "node"; all where neither is named and that is allowed.
  [[nodiscard]] AcceleratorRange range(ObjectReader& reader, bool may_be_all) const;
  [[nodiscard]] std::vector<LinkId> links(ObjectReader& reader) const;
  [[nodiscard]] VertexId vertex(const JsonCursor& named) const;

  const Cluster* cluster_;
  Diagnostics& diagnostics_;
};

}  // namespace headway
