#include "sim/result/words/cost_text.h"

#include <vector>

#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/result/number_text.h"

namespace headway {

std::string cost_text(const RunCost& cost) {
  const std::optional<double> usd = cost.run ? cost.run->usd() : cost.usd;
  const std::optional<Joules> energy = cost.run ? cost.run->energy : cost.energy;
  const std::optional<double> carbon = cost.run ? cost.run->carbon_kg : cost.carbon_kg;
  std::vector<std::string> parts;
  if (usd) parts.push_back("US$ " + prefixed_count(*usd));
  if (energy) parts.push_back(short_text(*energy));
  if (carbon) parts.push_back(prefixed_count(*carbon) + " kg of CO2");
  return join_words(parts, ", ");
}

}  // namespace headway
