#include "sim/jobs/synchronisation/synchronisation.h"

#include <array>

#include "sim/files/field_table.h"
#include "sim/jobs/rules/strategy_rules.h"

namespace headway {

// Each is defined in the file that bears its name.
SynchronisationPointer all_reduce();
SynchronisationPointer parameter_server();
SynchronisationPointer local_steps();

std::span<const SynchronisationPointer> synchronisation_schemes() {
  static const std::array kSchemes{all_reduce(), parameter_server(), local_steps()};
  return kSchemes;
}

std::vector<Field<Synchronisation>> SynchronisationScheme::fields() const { return {}; }
std::vector<StrategyRule> SynchronisationScheme::rules() const { return {}; }
std::vector<ReplicaExchange> SynchronisationScheme::exchanges(const Strategy& /*strategy*/) const {
  return {};
}
std::string SynchronisationScheme::work_text(const Strategy& /*strategy*/) const { return {}; }
std::vector<std::string> SynchronisationScheme::notes(const Strategy& /*strategy*/) const {
  return {};
}

}  // namespace headway
