#include "sim/validate/free_constants.h"

#include <nlohmann/json.hpp>

#include "sim/files/input_files.h"

namespace headway {

std::vector<FreeConstant> free_constants() {
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open("validation/constants.json", "scenarios");
  diagnostics.throw_if_errors();
  std::vector<FreeConstant> constants;
  for (const nlohmann::json& entry : root->value().at("constants")) {
    constants.push_back({.constant = entry.at("constant"),
                         .of = entry.at("of"),
                         .factor = entry.at("factor"),
                         .width = entry.at("width"),
                         .spread = entry.at("spread"),
                         .rows = entry.at("rows"),
                         .configurations = entry.at("configurations"),
                         .sources = entry.at("sources")});
  }
  return constants;
}

}  // namespace headway
