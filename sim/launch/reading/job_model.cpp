#include "sim/launch/reading/job_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/base/file_text.h"
#include "sim/base/letter_case.h"
#include "sim/base/utf8.h"
#include "sim/files/input_files.h"
#include "sim/files/json_text.h"
#include "sim/models/read_model.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::string_view kFlagsOfSequence[] = {
    "--block-size", "--cutoff-len",    "--max-length",       "--max-seq-len", "--max-seq-length",
    "--max-tokens", "--max-token-len", "--model-max-length", "--seq-length",  "--sequence-length"};
constexpr double kMostTokens = 1e12;

constexpr std::string_view kHub = "huggingface.co/";
/// What repositories of one model are told apart by.
constexpr std::string_view kVariants[] = {"-hf", "-instruct", "-base", "-chat", "-it", "-pt"};

/// "meta-llama/Llama-2-7b" of "meta-llama/Llama-2-7b-chat-hf", in small letters.
std::string without_variant(std::string_view repository) {
  std::string name = lower_case(repository);
  for (bool is_cut = true; is_cut;) {
    is_cut = false;
    for (const std::string_view variant : kVariants) {
      if (!name.ends_with(variant)) continue;
      name.resize(name.size() - variant.size());
      is_cut = true;
    }
  }
  return name;
}

/// "owner/name" behind the first link to the hub that a text has; empty without one.
std::string_view repository_in(std::string_view text) {
  const std::size_t link = text.find(kHub);
  if (link == std::string_view::npos) return {};
  text.remove_prefix(link + kHub.size());
  const std::size_t owner = text.find('/');
  if (owner == std::string_view::npos) return {};
  text = text.substr(0, text.find_first_of("/ ,;:)", owner + 1));
  if (text.ends_with('.')) text.remove_suffix(1);
  return text;
}

}  // namespace

JobModel job_model(const json& model) {
  Diagnostics ignored;
  InputFiles files({}, data_folders(), ignored);
  const auto document = JsonDocument::parse("the job", json{{"model", model}}.dump(), ignored);
  if (document == nullptr) return {};
  const auto read = read_model(*JsonCursor(document).member("model"), files);
  if (!read || !read->transformer) return {};
  const TransformerModel& fields = *read->transformer;
  return {.layers = static_cast<double>(fields.layers),
          .hidden = static_cast<double>(fields.hidden),
          .sequence_length = static_cast<double>(fields.sequence_length),
          .has_experts = fields.mixture_of_experts.has_value()};
}

std::string named_model(const ImportRequest& request, const GivenSettings& flags,
                        const SourceLocation& place, Diagnostics& diagnostics) {
  if (!request.model.empty()) return request.model;
  const GivenSetting* const named = flags.find("--model-name-or-path");
  const std::string repository = flags.value("--model-name-or-path");
  if (named != nullptr) {
    if (std::string known = model_of_repository(repository); !known.empty()) return known;
  }
  diagnostics.add(
      {.message = named == nullptr
                      ? "which model the job trains is not in the file"
                      : fmt::format("the model {} is not in the library", in_quotes(repository)),
       .location = named == nullptr ? place : named->place,
       .help = "say it: --model NAME, one of `headway list models`, a file of a model, or the "
               "config.json that Hugging Face has of it"});
  return "";
}

void settle_sequence_length(const ImportRequest& request, const GivenSettings& flags,
                            const JobModel& model, json& strategy, std::set<std::string>& used,
                            Diagnostics& diagnostics) {
  double tokens = 0.0;
  for (const std::string_view flag : kFlagsOfSequence) {
    const auto number = flags.number(flag);
    if (!number) continue;
    tokens = *number;
    std::string name(flag);
    std::replace(name.begin() + 2, name.end(), '-', '_');
    used.insert(std::move(name));
  }
  if (request.sequence_length) tokens = *request.sequence_length;
  if (tokens >= 1.0) {
    strategy["sequence_length"] = static_cast<std::int64_t>(std::min(tokens, kMostTokens));
  } else if (model.sequence_length > 0.0) {
    diagnostics.add(
        {.severity = Severity::warning,
         .message = fmt::format("how long sequences are is not in the file; the {:.0f} tokens that "
                                "the model has are taken",
                                model.sequence_length),
         .location = {.file = request.paths.front()},
         .help = "say it: --sequence-length N"});
  }
}

std::string model_of_repository(const std::string& repository) {
  const std::string wanted = without_variant(repository);
  if (wanted.find('/') == std::string::npos) return "";
  for (const std::filesystem::path& folder : data_folders()) {
    for (const std::string& name : json_files_below(folder / "scenarios/models")) {
      const json fields = fields_of_model(name);
      if (!fields.is_object() || !fields.contains("source")) continue;
      const std::string source = unquoted_json(fields.at("source"));
      if (without_variant(repository_in(source)) == wanted) return name;
    }
  }
  return "";
}

json fields_of_model(const std::string& name) {
  Diagnostics ignored;
  InputFiles files({}, data_folders(), ignored);
  const auto root = files.open(name, "scenarios/models");
  return root ? root->value() : json();
}

}  // namespace headway
