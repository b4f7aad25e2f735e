// JSON Schemas for editors: that they are what is shipped, and that they say what readers say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "sim/files/json_text.h"
#include "sim/reference/catalog.h"
#include "sim/reference/explain_file.h"
#include "sim/reference/input_fields.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using Problems = std::vector<std::string>;

const fs::path kRoot = source_folder();

json parsed_file(const fs::path& path) { return json::parse(std::ifstream(path)); }

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") {
    return value.is_number() && std::floor(value.get<double>()) == value.get<double>();
  }
  return type == "number"    ? value.is_number()
         : type == "string"  ? value.is_string()
         : type == "boolean" ? value.is_boolean()
         : type == "array"   ? value.is_array()
                             : value.is_object();
}

/// What of JSON Schema 2020-12 the schemas use. Fails for a keyword that it does not know.
Problems violations(const json& value, const json& schema, const std::string& place,
                    const json& root) {
  Problems found;
  const auto require = [&](bool holds, const std::string& keyword) {
    if (!holds) found.push_back(place + ": " + keyword);
  };
  const auto append = [&](const Problems& more) {
    found.insert(found.end(), more.begin(), more.end());
  };
  for (const auto& [keyword, said] : schema.items()) {
    if (keyword == "type") {
      require(has_type(value, said), keyword);
    } else if (keyword == "enum") {
      require(std::find(said.begin(), said.end(), value) != said.end(), keyword);
    } else if (keyword == "const") {
      require(value == said, keyword);
    } else if (keyword == "minimum") {
      require(!value.is_number() || value >= said, keyword);
    } else if (keyword == "exclusiveMinimum") {
      require(!value.is_number() || value > said, keyword);
    } else if (keyword == "maximum") {
      require(!value.is_number() || value <= said, keyword);
    } else if (keyword == "pattern") {
      require(!value.is_string() ||
                  std::regex_search(value.get<std::string>(), std::regex(said.get<std::string>())),
              keyword);
    } else if (keyword == "$ref") {
      const std::string pointer = said.get<std::string>().substr(1);
      append(violations(value, root.at(json::json_pointer(pointer)), place, root));
    } else if (keyword == "anyOf") {
      const bool any = std::ranges::any_of(
          said, [&](const json& one) { return violations(value, one, place, root).empty(); });
      // What is wrong with an object is told by the alternative for objects.
      if (!any && value.is_object()) append(violations(value, said.at(0), place, root));
      require(any || value.is_object(), keyword);
    } else if (keyword == "items") {
      if (!value.is_array()) continue;
      for (const json& element : value) append(violations(element, said, place + "[]", root));
    } else if (keyword == "required") {
      if (!value.is_object()) continue;
      for (const json& name : said) require(value.contains(name), "required " + name.dump());
    } else if (keyword == "additionalProperties") {
      if (!value.is_object()) continue;
      for (const auto& [name, unused] : value.items()) {
        require(schema.at("properties").contains(name), "unknown " + name);
      }
    } else if (keyword == "properties") {
      if (!value.is_object()) continue;
      for (const auto& [name, member] : value.items()) {
        if (said.contains(name))
          append(violations(member, said.at(name), place + "." + name, root));
      }
    } else if (!std::set<std::string>{"description", "default", "examples", "title", "$schema",
                                      "$defs"}
                    .contains(keyword)) {
      ADD_FAILURE() << "the test does not know " << keyword;
    }
  }
  return found;
}

Problems violations(const json& value, const json& schema, const std::string& place) {
  return violations(value, schema, place, schema);
}

Problems problems_of(const fs::path& path, const std::string& kind) {
  return violations(parsed_file(path), file_schema(kind), path.filename().string());
}

Problems problems_of_catalog(const std::string& kind, const std::string& schema) {
  Problems found;
  for (const CatalogEntry& entry : catalog(kind)) {
    const Problems of_file = problems_of(entry.path, schema);
    found.insert(found.end(), of_file.begin(), of_file.end());
  }
  return found;
}

/// HEADWAY_UPDATE_SCHEMAS=1 writes the files instead of comparing them.
TEST(Schemas, TheFilesAreWhatTheProgramPrints) {
  for (const std::string_view name : schema_names()) {
    const std::string text = json_text(file_schema(name));
    const fs::path path = kRoot / "scenarios/schemas" / (std::string(name) + ".schema.json");
    if (const char* update = std::getenv("HEADWAY_UPDATE_SCHEMAS"); update && *update == '1') {
      fs::create_directories(path.parent_path());
      std::ofstream(path) << text;
      continue;
    }
    std::ostringstream shipped;
    shipped << std::ifstream(path).rdbuf();
    EXPECT_EQ(shipped.str() == text, true)
        << path << " is not what `headway explain --schema " << name
        << "` prints; HEADWAY_UPDATE_SCHEMAS=1 rewrites it";
  }
}

TEST(Schemas, AllowTheShippedFiles) {
  EXPECT_THAT(problems_of_catalog("scenarios", "scenario"), ElementsAre());
  EXPECT_THAT(problems_of_catalog("models", "model"), ElementsAre());
  EXPECT_THAT(problems_of_catalog("topologies", "topology"), ElementsAre());
  for (const auto& entry : fs::directory_iterator(kRoot / "topologies/nodes")) {
    EXPECT_THAT(problems_of(entry.path(), "node"), ElementsAre());
  }
}

TEST(Schemas, AllowWhatScenariosResolveTo) {
  for (const CatalogEntry& entry : catalog("scenarios")) {
    Diagnostics diagnostics;
    const auto file = explained_file(entry.path, {}, diagnostics);
    ASSERT_TRUE(file.has_value()) << entry.path;
    EXPECT_THAT(violations(*file->resolved, file_schema("scenario"), entry.name), ElementsAre());
  }
}

TEST(Schemas, RefuseWhatTheReaderRefuses) {
  const json scenario = parsed_file(kRoot / "scenarios/llama3_8b_64.json");
  const json schema = file_schema("scenario");
  const ScratchFolder scratch;
  const auto expect_refused = [&](const std::string& pointer, const json& value) {
    json changed = scenario;
    changed[json::json_pointer(pointer)] = value;
    EXPECT_NE(violations(changed, schema, ""), Problems()) << pointer;
    Diagnostics diagnostics;
    EXPECT_FALSE(
        explained_file(scratch.write("changed.json", changed.dump()), {}, diagnostics).has_value())
        << pointer;
  };
  expect_refused("/strategy/tensor_parralel", 8);
  expect_refused("/strategy/tensor_parallel", "8");
  expect_refused("/strategy/tensor_parallel", 0);
  expect_refused("/strategy/schedule", "zigzag");
  expect_refused("/strategy/gradient_bucket", 25);
  expect_refused("/strategy/gradient_bucket", "25");
  expect_refused("/strategy/recompute_modules", {"everything"});
  expect_refused("/run/replicas", 0);
  expect_refused("/run/flows", "none");
  expect_refused("/perturbations/slow_nodes", {{{"node", 1}}});
  expect_refused("/cost/usd_per_gpu_hour", -1);
  expect_refused("/reliability/checkpoint/local", {{"interval", "1 h"}});
}

/// Every bound of every number in what the shipped scenarios resolve to is one of its reader, too.
TEST(Schemas, HaveTheRangesOfReaders) {
  const ScratchFolder scratch;
  int tried = 0;
  for (const FieldDescription& field : input_fields()) {
    if (!field.type.schema->contains("minimum") || field.name.starts_with("cluster")) continue;
    std::string pointer = "/" + field.name;
    std::ranges::replace(pointer, '.', '/');
    for (const char* name : {"llama3_8b_64", "qwen3_235b_a22b_256"}) {
      Diagnostics diagnostics;
      static std::map<std::string, json> resolved;
      if (!resolved.contains(name)) {
        resolved[name] = *explained_file(name, {}, diagnostics)->resolved;
      }
      json changed = resolved.at(name);
      const json::json_pointer place(pointer);
      if (!changed.contains(place) || !changed.at(place).is_number()) continue;
      changed[place] = field.type.schema->at("minimum").get<double>() - 1.0;
      const std::string path = scratch.write("changed.json", changed.dump());
      EXPECT_FALSE(explained_file(path, {}, diagnostics).has_value()) << field.name;
      ++tried;
    }
  }
  EXPECT_GT(tried, 20);
}

}  // namespace
}  // namespace headway
