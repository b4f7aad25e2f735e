#include "sim/study/explain_tables.h"

namespace headway {
namespace {

constexpr TopicRow kRows[] = {
    {"model.schema", "\"headway/model/1\"", "required in a file, optional inside a scenario",
     "Says that a file is a model, and of which version."},
    {"model.name", "text", "\"unnamed model\"", "What reports call the model."},
    {"model.source", "text", "empty", "Where the numbers were published."},
    {"model.huggingface", "the name of a file", "none",
     "A Hugging Face config.json that the fields are read from. Read are llama, mistral, qwen2, "
     "nemotron, gpt2, gpt_neox and mpt.",
     "instead of the fields below", "a config.json may also stand where a model is named"},
    {"model.parameters", "whole number", "not checked",
     "The published number of parameters. A guard against slips: held against what the fields add "
     "up to.",
     "within 0.5 % of that, unless a --set changed the model"},
    {"model.layers", "whole number, 1 to 10,000", "required", "Transformer layers.", "",
     "strategy.pipeline_parallel"},
    {"model.hidden", "whole number, 1 to 10,000,000", "required",
     "Size of the residual stream, the model dimension."},
    {"model.attention_heads", "whole number, 1 to 100,000", "required", "Query heads of a layer.",
     "divides hidden, unless head_size is given"},
    {"model.kv_heads", "whole number, 1 to 100,000", "attention_heads",
     "Heads of keys and values. Fewer than attention_heads is grouped-query attention, 1 is "
     "multi-query attention.",
     "divides attention_heads", "Ainslie et al. 2023 (arXiv:2305.13245)"},
    {"model.head_size", "whole number, 1 to 100,000", "hidden / attention_heads",
     "Elements of one head."},
    {"model.ffn_hidden", "whole number, 1 to 100,000,000", "required",
     "Inner size of the MLP (intermediate size, FFN dimension)."},
    {"model.mlp", R"("plain" or "gated")", "required",
     "How many matrices the MLP has. Two if plain, three if gated (SwiGLU and relatives).", "",
     "Shazeer 2020 (arXiv:2002.05202)"},
    {"model.vocabulary", "whole number, 1 to 100,000,000", "required",
     "Rows of the token embedding, padding included."},
    {"model.tied_embeddings", "true or false", "false",
     "The output head reuses the token embedding."},
    {"model.normalization", R"("layer_norm" or "rms_norm")", "\"layer_norm\"",
     "The norm before attention, before the MLP and before the output head."},
    {"model.normalization_bias", "true or false", "true for a layer norm", "The norms have a bias.",
     "false for an RMS norm"},
    {"model.position_encoding", R"("learned", "rotary" or "none")", "\"learned\"",
     "How positions enter. A learned table has parameters and ends at sequence_length; \"none\" "
     "stands for ALiBi too."},
    {"model.qkv_bias", "true or false", "true",
     "The query, key and value projections have biases."},
    {"model.projection_bias", "true or false", "true",
     "The output projection of attention has a bias."},
    {"model.mlp_bias", "true or false", "true", "The matrices of the MLP have biases."},
    {"model.sequence_length", "whole number, 1 to 1,000,000,000", "required",
     "Tokens of a sequence that the model is trained at.", "", "strategy.sequence_length"},
};

}  // namespace

std::span<const TopicRow> model_topics() { return kRows; }

}  // namespace headway
