#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/programs/kind_network.h"
#include "sim/programs/stage_program.h"

namespace headway {

/// What each communicator's collectives cost.
class CommunicatorPrices {
 public:
  /// What a rank group joins, by the name that its program has for it; -1 for what it does not.
  using Joined = std::map<std::string_view, std::int32_t>;

  /// `called` is what programs know the price by.
  void add(std::int32_t communicator, std::string_view called, KindNetwork::Collective price) {
    prices_.insert_or_assign(communicator, Price{called, std::move(price)});
  }

  /// Kinds of nodes that those are priced by: programs of equal ranks differ where these do.
  [[nodiscard]] std::vector<int> kinds_of(const Joined& joined) const {
    std::vector<int> kinds;
    for (const auto& [unused, communicator] : joined) {
      const auto known = prices_.find(communicator);
      if (known != prices_.end()) kinds.push_back(known->second.price.kind);
    }
    return kinds;
  }

  /// Makes theirs the prices that programs are written with.
  void put_into(JobShape& job, const Joined& joined) const {
    for (const auto& [unused, communicator] : joined) {
      const auto known = prices_.find(communicator);
      if (known == prices_.end()) continue;
      job.prices.insert_or_assign(known->second.called, known->second.price.price);
    }
  }

 private:
  struct Price {
    std::string_view called;
    KindNetwork::Collective price;
  };
  std::map<std::int32_t, Price> prices_;
};

}  // namespace headway
