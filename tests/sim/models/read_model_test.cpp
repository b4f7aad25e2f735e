#include "sim/models/read_model.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/layers/parameters.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::read_model_text;
using testing::read_scenario_model;

constexpr const char* kLeast = R"({
  "schema": "headway/model/1",
  "layers": 2,
  "hidden": 64,
  "attention_heads": 4,
  "ffn_hidden": 256,
  "mlp": "plain",
  "vocabulary": 100,
  "sequence_length": 32
})";

/// kLeast with one line changed.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kLeast;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ReadModel, ReadsEveryField) {
  const ModelReading reading = read_model_text(R"({
    "schema": "headway/model/1", "name": "n", "source": "s", "layers": 3, "hidden": 12,
    "attention_heads": 4, "kv_heads": 2, "head_size": 5, "ffn_hidden": 7, "mlp": "gated",
    "vocabulary": 11, "tied_embeddings": true, "normalization": "rms_norm",
    "position_encoding": "none", "qkv_bias": false, "projection_bias": false, "mlp_bias": false,
    "sequence_length": 13})");
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  const TransformerModel expected{.name = "n",
                                  .source = "s",
                                  .layers = 3,
                                  .hidden = 12,
                                  .attention_heads = 4,
                                  .kv_heads = 2,
                                  .head_size = 5,
                                  .ffn_hidden = 7,
                                  .gated_mlp = true,
                                  .vocabulary = 11,
                                  .tied_embeddings = true,
                                  .normalization = Normalization::rms_norm,
                                  .normalization_bias = false,
                                  .position_encoding = PositionEncoding::none,
                                  .qkv_bias = false,
                                  .projection_bias = false,
                                  .mlp_bias = false,
                                  .sequence_length = 13};
  EXPECT_EQ(reading.read->transformer, expected);
}

TEST(ReadModel, DefaultsAreThoseOfGpt2) {
  const ModelReading reading = read_model_text(kLeast);
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  const TransformerModel& model = *reading.read->transformer;
  EXPECT_EQ(model.kv_heads, 4);
  EXPECT_EQ(model.head_size, 16);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_EQ(model.normalization, Normalization::layer_norm);
  EXPECT_EQ(model.position_encoding, PositionEncoding::learned);
  EXPECT_TRUE(model.normalization_bias && model.qkv_bias && model.projection_bias &&
              model.mlp_bias);
}

TEST(ReadModel, OnlyModelsWithLearnedPositionsSayWhetherTheyDropOut) {
  const ModelReading least = read_model_text(kLeast);
  ASSERT_TRUE(least.read.has_value());
  EXPECT_TRUE(least.read->transformer->dropout);
  EXPECT_EQ(least.read->resolved->at("dropout"), true);
  std::string rotary = kLeast;
  rotary.insert(rotary.rfind('}'), R"(, "position_encoding": "rotary")");
  const ModelReading other = read_model_text(rotary);
  ASSERT_TRUE(other.read.has_value()) << other.problems;
  EXPECT_FALSE(other.read->resolved->contains("dropout"));
}

TEST(ReadModel, ResolvedFormHoldsEveryDefaultAndReadsBack) {
  const ModelReading first = read_model_text(kLeast);
  ASSERT_TRUE(first.read.has_value());
  EXPECT_EQ((*first.read->resolved)["kv_heads"], 4);
  EXPECT_EQ((*first.read->resolved)["head_size"], 16);
  EXPECT_EQ((*first.read->resolved)["normalization_bias"], true);

  const ModelReading second = read_model_text(first.read->resolved->dump());
  EXPECT_EQ(second.problems, "");
  ASSERT_TRUE(second.read.has_value());
  EXPECT_EQ(second.read->transformer, first.read->transformer);
  EXPECT_EQ(second.read->resolved, first.read->resolved);
}

TEST(ReadModel, ObjectInPlaceNeedsNoSchema) {
  const ModelReading reading = read_scenario_model(
      R"({"model": {"layers": 2, "hidden": 64, "attention_heads": 4, "ffn_hidden": 256,
          "mlp": "plain", "vocabulary": 100, "sequence_length": 32}})");
  EXPECT_EQ(reading.problems, "");
  EXPECT_TRUE(reading.read.has_value());
}

TEST(ReadModel, OverrideMayLeaveThePublishedModel) {
  const ModelReading reading =
      read_scenario_model(R"({"model": "llama3_405b"})", {"/model/layers=8"});
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->transformer->layers, 8);
}

TEST(ReadModel, OverrideInsideAPartLeavesItToo) {
  const ModelReading reading =
      read_scenario_model(R"({"model": "mixtral_8x7b"})", {"/model/mixture_of_experts/experts=16"});
  EXPECT_EQ(reading.problems, "");
  const ModelReading listed =
      read_scenario_model(R"({"model": "yolov3"})", {"/model/layers/0/repeat=2"});
  EXPECT_EQ(listed.problems, "");
  EXPECT_TRUE(listed.read.has_value());
}

TEST(ReadModel, UnknownNameSuggestsTheClosest) {
  const ModelReading reading = read_scenario_model(R"({"model": "llama3_450b"})");
  EXPECT_FALSE(reading.read.has_value());
  EXPECT_EQ(reading.problems, R"(error: cannot find "llama3_450b"
  --> scenario.json:1:11   /model
   |
 1 | {"model": "llama3_450b"}
   |           ^^^^^^^^^^^^^
  help: did you mean "llama3_405b"?
)");
}

TEST(ReadModel, FileOfAnotherKindIsOneProblem) {
  EXPECT_EQ(read_model_text(R"({
  "schema": "headway/topology/1",
  "nodes": 4
})")
                .problems,
            R"(error: schema must be "headway/model/1"
  --> model.json:2:13   /schema
   |
 2 |   "schema": "headway/topology/1",
   |             ^^^^^^^^^^^^^^^^^^^^
  help: the file is a topology, where a model is needed; a scenario names it: "cluster": {"topology": "FILE"}
)");
}

TEST(ReadModel, FileNeedsItsSchema) {
  EXPECT_EQ(read_model_text(changed("  \"schema\": \"headway/model/1\",\n", "")).problems,
            R"(error: missing field "schema"
  --> model.json:1:1
   |
 1 | {
   | ^
  help: for example "schema": "headway/model/1"
)");
}

TEST(ReadModel, KvHeadsMustDivideAttentionHeads) {
  const ModelReading reading =
      read_model_text(changed(R"("attention_heads": 4,)", R"("attention_heads": 4,
  "kv_heads": 3,)"));
  EXPECT_EQ(reading.problems, R"(error: the key-value heads must divide the attention heads
  --> model.json:6:15   /kv_heads
   |
 6 |   "kv_heads": 3,
   |               ^ 3 does not divide 4
   |
  ::: model.json:5:22   /attention_heads is 4
  help: grouped-query attention gives each key-value head as many attention heads
)");
}

TEST(ReadModel, HeadsMustDivideHiddenWithoutAHeadSize) {
  EXPECT_EQ(read_model_text(changed(R"("attention_heads": 4)", R"("attention_heads": 5)")).problems,
            R"(error: attention_heads must divide hidden
  --> model.json:5:22   /attention_heads
   |
 5 |   "attention_heads": 5,
   |                      ^ 5 does not divide 64
  help: or name the size of a head: "head_size"
)");
}

TEST(ReadModel, CountsAreAtLeastOne) {
  EXPECT_EQ(read_model_text(changed(R"("layers": 2)", R"("layers": 0)")).problems,
            R"(error: layers must be between 1 and 10000
  --> model.json:3:13   /layers
   |
 3 |   "layers": 0,
   |             ^ 0
  help: for example "layers": 1
)");
}

TEST(ReadModel, CountsHaveACap) {
  EXPECT_EQ(read_model_text(changed(R"("hidden": 64)", R"("hidden": 64e9)")).problems,
            R"(error: hidden must be between 1 and 10000000
  --> model.json:4:13   /hidden
   |
 4 |   "hidden": 64e9,
   |             ^^^^ 64000000000.0
  help: for example "hidden": 1
)");
}

TEST(ReadModel, CountsAreWholeNumbers) {
  EXPECT_EQ(read_model_text(changed(R"("layers": 2)", R"("layers": "2")")).problems,
            R"(error: "layers" must be a whole number
  --> model.json:3:13   /layers
   |
 3 |   "layers": "2",
   |             ^^^ a text
  help: write 2 without quotes
)");
}

TEST(ReadModel, MissingFieldIsNamed) {
  EXPECT_EQ(read_model_text(changed("  \"layers\": 2,\n", "")).problems,
            R"(error: missing field "layers"
  --> model.json:1:1
   |
 1 | {
   | ^
  help: for example "layers": 1
)");
}

TEST(ReadModel, UnknownFieldSuggestsTheClosest) {
  const ModelReading reading =
      read_model_text(changed(R"("layers": 2,)", R"("layers": 2, "kv_head": 2,)"));
  EXPECT_EQ(reading.problems, R"(error: unknown field "kv_head"
  --> model.json:3:16   /kv_head
  help: did you mean "kv_heads"?
)");
}

TEST(ReadModel, ReportsAllProblemsOfAFieldAtOnce) {
  const ModelReading reading = read_model_text(R"({"schema": "headway/model/1", "layers": -1,
      "hidden": 64, "attention_heads": 4, "kv_heads": 3, "mlp": "swiglu", "vocabulary": 100,
      "sequence_length": 32})");
  EXPECT_FALSE(reading.read.has_value());
  EXPECT_NE(reading.problems.find("layers must be between"), std::string::npos);
  EXPECT_NE(reading.problems.find("missing field \"ffn_hidden\""), std::string::npos);
  EXPECT_NE(reading.problems.find("mlp cannot be \"swiglu\""), std::string::npos);
}

TEST(ReadModel, RmsNormHasNoBias) {
  const ModelReading reading =
      read_model_text(changed(R"("mlp": "plain",)", R"("mlp": "plain", "normalization": "rms_norm",
  "normalization_bias": true,)"));
  EXPECT_EQ(reading.problems, R"(error: an RMS norm has no bias
  --> model.json:8:25   /normalization_bias
   |
 8 |   "normalization_bias": true,
   |                         ^^^^ must be false
  help: leave it out, or set "normalization" to "layer_norm"
)");
}

TEST(ReadModel, FieldsMustAddUpToThePublishedParameters) {
  // A layer: attention 4 x 64 x 64 + 4 x 64 biases = 16,640; MLP 2 x 64 x 256 + 256 + 64 = 33,088;
  // norms 4 x 64 = 256: 49,984. Two of them, 12,800 of the vocabulary in and out, 2,048 positions
  // and a final norm of 128: 114,944.
  const ModelReading reading =
      read_model_text(changed(R"("sequence_length": 32)", R"("sequence_length": 32,
  "parameters": 115600)"));
  EXPECT_EQ(reading.problems, R"(error: the fields do not add up to the published parameters
  --> model.json:10:17   /parameters
   |
10 |   "parameters": 115600
   |                 ^^^^^^ 115,600 published, 114,944 from the fields
  help: mend the field that is off, or leave "parameters" out of a model of your own
)");
}

TEST(ReadModel, RoundedPublishedParametersPass) {
  const ModelReading reading = read_model_text(
      changed(R"("sequence_length": 32)", R"("sequence_length": 32, "parameters": 115500)"));
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  // It is a check, not a property: a resolved scenario can be changed further.
  EXPECT_FALSE(reading.read->resolved->contains("parameters"));
}

TEST(ReadModel, AChangedModelIsHeldAgainstACountOnlyIfThatWasSetToo) {
  const auto problems = [](const std::vector<std::string>& settings) {
    return read_scenario_model(R"({"model": "llama3_8b"})", settings).problems;
  };
  EXPECT_EQ(problems({"/model/layers=31"}), "");
  const std::string wrong = problems({"/model/parameters=100"});
  EXPECT_NE(wrong.find("100 published, 8,030,261,248 from the fields"), std::string::npos) << wrong;
  // A layer has 2 x 4096 x 5120 + 3 x 4096 x 14336 + 2 x 4096.
  EXPECT_EQ(problems({"/model/layers=31", "/model/parameters=7812149248"}), "");
  EXPECT_NE(problems({"/model/layers=31", "/model/parameters=8030261248"}), "");
}

TEST(ReadModel, RefusesASizeBeyondReason) {
  const ModelReading reading = read_scenario_model(R"({"model": {"layers": 10000,
 "hidden": 10000000, "attention_heads": 100, "ffn_hidden": 40000000, "mlp": "plain",
 "vocabulary": 100, "sequence_length": 32}})");
  // 10^4 layers x 12 x (10^7)^2
  EXPECT_EQ(reading.problems, R"(error: the model is too large: about 1.2e+19 parameters
  --> scenario.json:1:11   /model
   |
 1 | {"model": {"layers": 10000,
   |           ^ at most 1e+15
)");
}

TEST(ReadModel, AnyValueOfAnyFieldIsReadOrReported) {
  const nlohmann::json least = nlohmann::json::parse(kLeast);
  const nlohmann::json llama = nlohmann::json::parse(R"({"model_type": "llama", "hidden_size": 64,
      "intermediate_size": 256, "max_position_embeddings": 32, "num_attention_heads": 4,
      "num_hidden_layers": 2, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100,
      "sliding_window": 8, "num_local_experts": 1, "attention_bias": false, "_name_or_path": "x"})");
  const nlohmann::json mpt = nlohmann::json::parse(R"({"model_type": "mpt", "d_model": 64,
      "expansion_ratio": 4, "max_seq_len": 32, "n_heads": 4, "n_layers": 2, "vocab_size": 100,
      "no_bias": true, "attn_config": {"alibi": true}, "architectures": ["MPTForCausalLM"]})");
  const std::vector<nlohmann::json> values = {nullptr,
                                              true,
                                              -1,
                                              0,
                                              1,
                                              1.5,
                                              1e18,
                                              std::numeric_limits<std::uint64_t>::max(),
                                              "",
                                              "layer_norm",
                                              "llama3_8b",
                                              nlohmann::json::array(),
                                              nlohmann::json::array({1}),
                                              nlohmann::json::object()};
  for (const nlohmann::json& whole : {least, llama, mpt}) {
    for (const auto& field : whole.items()) {
      for (const nlohmann::json& value : values) {
        nlohmann::json changed_object = whole;
        changed_object[field.key()] = value;
        const ModelReading reading = read_model_text(changed_object.dump());
        EXPECT_EQ(reading.read.has_value(), !reading.has_errors) << changed_object.dump();
        if (!reading.read) continue;
        EXPECT_GT(parameter_count(reading.read->model), 0) << changed_object.dump();
      }
    }
  }
}

TEST(ReadModel, RefusesWhatIsNoObject) {
  EXPECT_EQ(read_scenario_model(R"({"model": 7})").problems,
            R"(error: "model" must be an object or the name of a file
  --> scenario.json:1:11   /model
   |
 1 | {"model": 7}
   |           ^ a number
  help: write it in place, in braces, or the path of a file in quotes, or a name that `headway list` shows
)");
}

}  // namespace
}  // namespace headway
