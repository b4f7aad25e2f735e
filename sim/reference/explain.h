#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway {

enum class TopicKind { field, metric, preset, term, exit_code };

/// Something that `headway explain` explains.
struct Topic {
  TopicKind kind = TopicKind::field;
  /// Members joined by dots, from the scenario's or the result's root: "strategy.tensor_parallel".
  /// Array elements and the free names of a map are left out: "perturbations.slow_accelerators.
  /// accelerator".
  std::string name;
  std::string type;      ///< "whole number, 1 to 10,000", "text with a unit: bandwidth"
  std::string fallback;  ///< what a field is without being given; "required"
  std::string about;     ///< what it means; the first sentence stands in lists
  std::string limits;    ///< what it has to fit; may be empty
  std::string see;       ///< related names, sources; may be empty
};

/// Every field that readers accept, every value of a result, every preset, every term of the cost
/// model that can be left out.
[[nodiscard]] const std::vector<Topic>& topics();

/// Topics that `name` may mean: the one of exactly that name; else the fields that end in it, else
/// the others that do. A JSON pointer ("/strategy/tensor_parallel") is a name too, and the unit
/// that a result's key ends in may be left out ("breakdown.compute" for "breakdown_s.compute"). Else
/// the one that texts and tables call so ("exposed data-parallel").
[[nodiscard]] std::vector<const Topic*> topics_named(std::string_view name,
                                                     const std::vector<Topic>& topics);

/// The single one. Throws InputError, with what may have been meant, if there is none or more.
[[nodiscard]] const Topic& topic_named(std::string_view name, const std::vector<Topic>& topics);

}  // namespace headway
