#pragma once

#include <span>
#include <string_view>

#include "sim/programs/workload.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// A term of the cost model that can be left out, to see what it is worth. Leaving it out sets what
/// it rests on to its neutral value: numbers of the profile, or times and transfers of the workload
/// that was built. No formula asks whether it is wanted.
struct CostTerm {
  std::string_view name;
  std::string_view about;                      ///< what is left out, one sentence
  void (*change_profile)(Profile&) = nullptr;  ///< these may be nullptr
  void (*change_model)(Model&) = nullptr;
  void (*change_workload)(Workload&) = nullptr;
};

[[nodiscard]] std::span<const CostTerm> cost_terms();

/// Throws InputError, with what may have been meant, if there is none of that name.
[[nodiscard]] const CostTerm& cost_term_named(std::string_view name);

/// The scenario without one term; the rest stays as it is.
[[nodiscard]] Scenario without_term(Scenario scenario, const CostTerm& term);

}  // namespace headway
