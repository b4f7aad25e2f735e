// Configurations of models that see: what concerns text stands in a part of its own, what sees is
// warned of. Texts are written from published sizes with the fields that the transformers library
// gives them, and are no copies of files.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::parameters;
using testing::read_model_text;

std::int64_t decoder_parameters(const std::string& text) {
  const ModelReading reading = read_model_text(text);
  EXPECT_FALSE(reading.has_errors) << reading.problems;
  EXPECT_NE(reading.problems.find("warning: \"vision_config\" is not read"), std::string::npos)
      << reading.problems;
  return parameters(reading);
}

const std::string kQwen3Text = R"("head_dim": 128, "hidden_size": 4096,
    "intermediate_size": 12288, "max_position_embeddings": 262144, "num_attention_heads": 32,
    "num_hidden_layers": 36, "num_key_value_heads": 8, "vocab_size": 151936)";

TEST(HuggingFaceSenses, TheDecoderIsThatOfTheModelThatReadsAlone) {
  const ModelReading alone = read_model_text(R"({"model_type": "qwen3", )" + kQwen3Text + "}");
  EXPECT_EQ(alone.problems, "");
  EXPECT_EQ(decoder_parameters(R"({"model_type": "qwen3_vl", "text_config": {)" + kQwen3Text +
                               R"(}, "vision_config": {"depth": 27, "hidden_size": 1152}})"),
            parameters(alone));
}

/// Its text stands at the top, as that of Qwen2 models.
TEST(HuggingFaceSenses, Qwen25VlHasNoPartForText) {
  // 7,615,616,512 parameters (Qwen2.5-7B, whose decoder it is).
  EXPECT_EQ(decoder_parameters(R"({"model_type": "qwen2_5_vl", "hidden_size": 3584,
      "intermediate_size": 18944, "max_position_embeddings": 128000, "max_window_layers": 28,
      "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
      "sliding_window": 32768, "tie_word_embeddings": false, "use_sliding_window": false,
      "vocab_size": 152064, "vision_config": {"depth": 32}})"),
            7'615'616'512);
}

/// Whether embeddings are tied is said of the whole.
TEST(HuggingFaceSenses, TiedEmbeddingsMayBeSaidOutside) {
  const auto with = [](const std::string& tied) {
    return decoder_parameters(R"({"model_type": "qwen3_vl", "tie_word_embeddings": )" + tied +
                              R"(, "text_config": {)" + kQwen3Text +
                              R"(}, "vision_config": {"depth": 27}})");
  };
  EXPECT_EQ(with("false") - with("true"), 151'936LL * 4096);
}

/// Counts that the configuration class has are left out: 8 heads of 256, 4 of keys and values,
/// 262,208 words (Gemma 3, 2025, table 1: 3,209 M parameters without the 675 M of embeddings).
TEST(HuggingFaceSenses, Gemma3LeavesOutWhatItsClassHas) {
  const std::int64_t count = decoder_parameters(R"({"model_type": "gemma3", "text_config": {
      "hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
      "num_hidden_layers": 34, "sliding_window": 1024},
      "vision_config": {"hidden_size": 1152, "num_hidden_layers": 27}})");
  EXPECT_NEAR(static_cast<double>(count), 3'209e6 + 675e6, 4e6);
}

/// A wrapper that is not known, around a decoder that is.
TEST(HuggingFaceSenses, TheTypeOfTheTextIsEnough) {
  const ModelReading alone = read_model_text(R"({"model_type": "qwen3", )" + kQwen3Text + "}");
  EXPECT_EQ(decoder_parameters(
                R"({"model_type": "one_that_sees", "text_config": {"model_type": "qwen3", )" +
                kQwen3Text + R"(}, "vision_config": {"depth": 27}})"),
            parameters(alone));
}

}  // namespace
}  // namespace headway
