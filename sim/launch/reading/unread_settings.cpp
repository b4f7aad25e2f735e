#include "sim/launch/reading/unread_settings.h"

#include <fmt/format.h>

#include "sim/base/join_words.h"
#include "sim/base/utf8.h"

namespace headway {

void tell_unread(const GivenSettings& settings, const std::set<std::string>& used,
                 bool (*is_no_matter)(const GivenSetting& setting), Diagnostics& diagnostics) {
  bool is_first = true;
  for (const auto& [name, setting] : settings.all()) {
    if (used.contains(name) || setting.place.file.empty() || is_no_matter(setting)) continue;
    Diagnostic warning{.severity = Severity::warning,
                       .message = fmt::format("not read: {} = {}", printable(name),
                                              printable(join_words(setting.values, ", "))),
                       .location = setting.place};
    if (is_first) {
      warning.help =
          "what of it changes speed or memory is for fields of the scenario: `headway "
          "explain strategy`";
    }
    is_first = false;
    diagnostics.add(std::move(warning));
  }
}

}  // namespace headway
