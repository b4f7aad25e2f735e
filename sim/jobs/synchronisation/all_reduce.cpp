#include "sim/jobs/synchronisation/synchronisation.h"

namespace headway {
namespace {

class ByCollectives final : public SynchronisationScheme {
 public:
  [[nodiscard]] std::string_view name() const override { return "all_reduce"; }
  [[nodiscard]] std::string_view brief() const override { return "by collectives"; }
  [[nodiscard]] std::string_view what() const override {
    return "by collectives between replicas, whatever is sharded";
  }
  [[nodiscard]] bool reduces_gradients() const override { return true; }
};

}  // namespace

/// Collectives between replicas; which, is what sharding says.
SynchronisationPointer all_reduce() { return std::make_shared<ByCollectives>(); }

}  // namespace headway
