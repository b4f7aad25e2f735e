#include <gtest/gtest.h>

#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::parameters;
using testing::read_model_text;

/// Published counts; what a family leaves out (its comment says what) is less than 0.01 %.
struct Published {
  const char* name;
  const char* config;
  double parameters;
};
const Published kPublished[] = {
    {"OLMo-2 7B", R"({"model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "attention_bias": false, "max_position_embeddings": 4096, "vocab_size": 100352,
      "tie_word_embeddings": false})",
     7'298'617'344.0},
    {"Phi-4", R"({"model_type": "phi3", "hidden_size": 5120, "intermediate_size": 17920,
      "num_hidden_layers": 40, "num_attention_heads": 40, "num_key_value_heads": 10,
      "max_position_embeddings": 16384, "vocab_size": 100352, "sliding_window": null,
      "tie_word_embeddings": false})",
     14'659'507'200.0},
    {"Falcon 7B", R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
      "num_attention_heads": 71, "num_kv_heads": 71, "multi_query": true, "alibi": false,
      "new_decoder_architecture": false, "bias": false, "vocab_size": 65024})",
     6'921'720'704.0},
    {"OPT 6.7B", R"({"model_type": "opt", "hidden_size": 4096, "ffn_dim": 16384,
      "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 2048,
      "vocab_size": 50272, "word_embed_proj_dim": 4096})",
     6'658'473'984.0},
    {"Command R 35B", R"({"model_type": "cohere", "hidden_size": 8192, "intermediate_size": 22528,
      "num_hidden_layers": 40, "num_attention_heads": 64, "num_key_value_heads": 64,
      "attention_bias": false, "max_position_embeddings": 8192, "vocab_size": 256000})",
     34'980'831'232.0},
    {"GLM-4 9B (0414)", R"({"model_type": "glm4", "hidden_size": 4096, "intermediate_size": 13696,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
      "head_dim": 128, "attention_bias": true, "max_position_embeddings": 32768,
      "vocab_size": 151552, "tie_word_embeddings": false})",
     9'400'279'040.0},
};

TEST(HuggingFace, OtherFamiliesHaveTheirPublishedParameters) {
  for (const Published& published : kPublished) {
    const ModelReading reading = read_model_text(published.config);
    EXPECT_EQ(reading.problems, "") << published.name;
    EXPECT_NEAR(static_cast<double>(parameters(reading)), published.parameters,
                1e-4 * published.parameters)
        << published.name;
  }
}

/// Three of four layers attend to a window, as Command R7B has it.
TEST(HuggingFace, Cohere2HasWindowsInThreeOfFourLayers) {
  const ModelReading reading = read_model_text(R"({"model_type": "cohere2", "hidden_size": 4096,
      "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8, "max_position_embeddings": 8192, "vocab_size": 256000,
      "sliding_window": 4096, "sliding_window_pattern": 4})");
  EXPECT_EQ(reading.problems, "");
  // 8.03 B parameters (Cohere, c4ai-command-r7b-12-2024).
  EXPECT_NEAR(static_cast<double>(parameters(reading)), 8.03e9, 0.005e9);
}

}  // namespace
}  // namespace headway
