#include "sim/validate/changed_profile.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "sim/costs/read_profile.h"
#include "sim/files/input_files.h"
#include "sim/files/json_text.h"

namespace headway {

std::shared_ptr<const Profile> changed_profile(const std::string& name, const JsonValue& changes) {
  std::vector<Override> overrides;
  for (const auto& [pointer, value] : changes->items()) {
    overrides.push_back({"/profile" + pointer, compact_json(value)});
  }
  Diagnostics diagnostics;
  InputFiles files(std::move(overrides), data_folders(), diagnostics);
  const nlohmann::json part = {{"profile", name}};
  const JsonCursor root(JsonDocument::parse("profile", compact_json(part), diagnostics));
  const auto profile = read_profile(*root.member("profile"), files);
  files.report_unused_overrides();
  diagnostics.throw_if_errors();
  return profile->profile;
}

}  // namespace headway
