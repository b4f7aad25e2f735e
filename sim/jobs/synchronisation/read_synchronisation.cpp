#include "sim/jobs/synchronisation/read_synchronisation.h"

#include <algorithm>
#include <iterator>

#include "sim/base/letter_case.h"
#include "sim/jobs/part_fields.h"

namespace headway {
namespace {

using AnyScheme = const SynchronisationScheme*;

/// "By collectives, through parameter servers, or by averages", of what all schemes say.
std::string listed(std::string_view (SynchronisationScheme::*said)() const,
                   std::string_view between) {
  const auto schemes = synchronisation_schemes();
  std::string text;
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    if (i > 0) text += between;
    if (i > 0 && i + 1 == schemes.size()) text += "or ";
    text += (*schemes[i].*said)();
  }
  return text;
}

const std::string& scheme_notes() {
  static const std::string kNotes = [] {
    return with_capital(listed(&SynchronisationScheme::what, "; ")) + ".\nsee: strategy.zero_stage";
  }();
  return kNotes;
}

/// The scheme by its name. Of the one that was chosen before, what was said of it stays.
FieldMember<Synchronisation> scheme_word() {
  static const std::vector<Word<AnyScheme>> kSchemes = [] {
    std::vector<Word<AnyScheme>> words;
    for (const SynchronisationPointer& scheme : synchronisation_schemes()) {
      words.emplace_back(scheme->name(), scheme.get());
    }
    return words;
  }();
  const auto untold = [](const Synchronisation& how) {
    return std::ranges::find(kSchemes, how->name(), &Word<AnyScheme>::first)->second;
  };
  return word<Synchronisation>(
      Words<AnyScheme>(kSchemes), untold, [=](Synchronisation& how, AnyScheme chosen) {
        if (chosen == untold(how)) return;
        how.scheme =
            *std::ranges::find(synchronisation_schemes(), chosen, &SynchronisationPointer::get);
      });
}

}  // namespace

const std::string& synchronisation_notes() {
  static const std::string kNotes = [] {
    std::string text =
        "How replicas come to the same parameters: " + listed(&SynchronisationScheme::brief, ", ") +
        ".";
    std::string_view before = "\nsee: ";
    for (const SynchronisationPointer& scheme : synchronisation_schemes()) {
      if (scheme->see().empty()) continue;
      text += fmt::format("{}{}", before, scheme->see());
      before = "; ";
    }
    return text + fmt::format("\ndefault: what the preset does; by {} where none is",
                              synchronisation_schemes().front()->name());
  }();
  return kNotes;
}

const FieldTable<Synchronisation>& synchronisation_fields() {
  static const FieldTable<Synchronisation> kFields = [] {
    std::vector<Field<Synchronisation>> rows = {{"scheme", scheme_word(), scheme_notes()}};
    for (const SynchronisationPointer& scheme : synchronisation_schemes()) {
      std::ranges::move(scheme->fields(), std::back_inserter(rows));
    }
    return FieldTable<Synchronisation>(std::move(rows));
  }();
  return kFields;
}

Synchronisation read_synchronisation(ObjectReader& strategy, const Synchronisation& habits) {
  return read_part(strategy, "synchronisation", synchronisation_fields(), habits,
                   habits.scheme == synchronisation_schemes().front());
}

}  // namespace headway
