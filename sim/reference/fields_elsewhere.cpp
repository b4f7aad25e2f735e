#include "sim/reference/fields_elsewhere.h"

#include <string>
#include <string_view>

#include "sim/base/join_words.h"
#include "sim/reference/input_fields.h"

namespace headway {
namespace {

/// More places than that do not say which was meant: "name".
constexpr std::size_t kMostPlaces = 3;

std::vector<std::string_view> places_of(const std::string& field) {
  std::vector<std::string_view> places;
  for (const FieldDescription& known : input_fields()) {
    if (known.name.ends_with("." + field)) places.push_back(known.name);
  }
  return places;
}

}  // namespace

std::vector<Diagnostic> with_fields_elsewhere(std::vector<Diagnostic> problems) {
  for (Diagnostic& problem : problems) {
    const std::string& field = problem.unknown_field;
    if (field.empty() || problem.help.starts_with("did you mean")) continue;
    const std::vector<std::string_view> places = places_of(field);
    if (places.empty() || places.size() > kMostPlaces) continue;
    const std::string before = problem.help.empty() ? "" : problem.help + "; ";
    problem.help = before + "elsewhere there is " + join_words(places, ", ");
  }
  return problems;
}

}  // namespace headway
