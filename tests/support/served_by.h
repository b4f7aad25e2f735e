#pragma once

#include <memory>
#include <utility>

#include "sim/jobs/synchronisation/synchronisation.h"

namespace headway {

/// A synchronisation by such servers, of no scheme that scenarios know.
inline Synchronisation served_by(ServerPlan plan) {
  class Served final : public SynchronisationScheme {
   public:
    explicit Served(ServerPlan plan) : plan_(std::move(plan)) {}
    [[nodiscard]] std::string_view name() const override { return "served"; }
    [[nodiscard]] std::string_view brief() const override { return {}; }
    [[nodiscard]] std::string_view what() const override { return {}; }
    [[nodiscard]] const ServerPlan* servers() const override { return &plan_; }

   private:
    ServerPlan plan_;
  };
  return {std::make_shared<Served>(std::move(plan))};
}

}  // namespace headway
