#include "sim/jobs/frameworks.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/base/file_text.h"
#include "sim/files/input_files.h"
#include "sim/files/json_reader.h"
#include "sim/jobs/read_strategy.h"

namespace headway {
namespace {

constexpr std::string_view kFrameworkSchema = "headway/framework/1";
constexpr const char* kFrameworkFolder = "scenarios/frameworks";

std::vector<std::string> read_texts(ObjectReader& reader, std::string_view key) {
  std::vector<std::string> texts;
  for (const JsonCursor& element : reader.elements(key)) {
    if (const auto text = element.text()) {
      texts.push_back(*text);
    } else {
      reader.diagnostics().add(element.problem(fmt::format("\"{}\" holds texts", key)));
    }
  }
  return texts;
}

PublishedAs read_published(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  PublishedAs published{.framework = reader.text("framework"),
                        .release = reader.text("release", ""),
                        .model = reader.text("model", ""),
                        .experts = reader.flag("experts", false)};
  reader.report_unknown();
  return published;
}

FrameworkRecipe read_recipe(const JsonCursor& part, const Strategy& habits,
                            Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  FrameworkRecipe recipe{.releases = read_texts(reader, "releases"),
                         .accelerator = reader.text("accelerator"),
                         .model = reader.text("model"),
                         .task = reader.text("task", "")};
  if (const auto strategy = reader.required_part("strategy")) {
    recipe.strategy = strategy->value();
    static_cast<void>(read_habits(*strategy, habits, diagnostics));  // for its problems
  }
  reader.report_unknown();
  return recipe;
}

std::vector<Framework> read_all() {
  Diagnostics diagnostics;
  std::vector<Framework> all;
  std::set<std::string> names;
  for (const std::filesystem::path& data : data_folders()) {
    for (const std::string& name : json_files_below(data / kFrameworkFolder)) {
      // The first of the folders that has a name hides the others.
      if (!names.insert(name).second) continue;
      const std::string path =
          (data / kFrameworkFolder / (name + ".json")).lexically_normal().string();
      const auto document = JsonDocument::read(path, diagnostics);
      if (document == nullptr) continue;
      auto framework = read_framework(JsonCursor(document), diagnostics);
      if (framework) all.push_back(std::move(*framework));
    }
  }
  diagnostics.throw_if_errors();
  std::ranges::sort(all, {}, &Framework::name);
  Framework none{.name = "none", .about = "Headway's defaults"};
  all.insert(all.begin(), std::move(none));
  return all;
}

}  // namespace

std::optional<Framework> read_framework(const JsonCursor& root, Diagnostics& diagnostics) {
  Diagnostics problems;
  ObjectReader reader(root, problems);
  Framework framework;
  if (read_schema(reader, kFrameworkSchema)) {
    framework.name = reader.text("name");
    framework.about = reader.text("about");
    framework.links = read_texts(reader, "links");
    framework.launched_by = reader.text("launched_by", "");
    if (const auto strategy = reader.required_part("strategy")) {
      framework.strategy = read_habits(*strategy, {}, problems);
    }
    framework.in_fp16 = framework.strategy;
    if (const auto habits = reader.part("when_fp16")) {
      framework.in_fp16 = read_habits(*habits, framework.strategy, problems);
    }
    framework.with_experts = framework.strategy;
    framework.with_experts_in_fp16 = framework.in_fp16;
    if (const auto habits = reader.part("when_experts")) {
      framework.with_experts = read_habits(*habits, framework.strategy, problems);
      framework.with_experts_in_fp16 = read_habits(*habits, framework.in_fp16, problems);
    }
    for (const JsonCursor& element : reader.elements("published_as")) {
      framework.published_as.push_back(read_published(element, problems));
    }
    for (const JsonCursor& element : reader.elements("recipes")) {
      framework.recipes.push_back(read_recipe(element, framework.strategy, problems));
    }
    reader.report_unknown();
  }
  diagnostics.append(problems);
  return problems.has_errors() ? std::nullopt : std::optional(std::move(framework));
}

const std::vector<Framework>& frameworks() {
  static const std::vector<Framework> kFrameworks = read_all();
  return kFrameworks;
}

const Framework* framework_named(std::string_view name) {
  const auto found = std::ranges::find(frameworks(), name, &Framework::name);
  return found == frameworks().end() ? nullptr : &*found;
}

}  // namespace headway
