#include "sim/validate/validation_data.h"

#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/files/input_files.h"

namespace headway {

nlohmann::json validation_data(const std::string& file, const std::string& key) {
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open("validation/" + file, "scenarios");
  diagnostics.throw_if_errors();
  return root->value().at(key);
}

}  // namespace headway
