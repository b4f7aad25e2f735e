#include "sim/files/field_table.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/vision_tower.h"

namespace headway {
namespace {

const FieldTable<MixtureOfExperts>& expert_fields() {
  static const FieldTable<MixtureOfExperts> kFields(
      {{"experts", whole(&MixtureOfExperts::experts, model_limits::kExperts).required(),
        "Routed experts of a layer."},
       {"experts_per_token",
        whole(&MixtureOfExperts::experts_per_token, model_limits::kExpertsPerToken).required(),
        R"(Experts that each token passes.
limits: no more than there are)"},
       {"expert_hidden",
        whole(&MixtureOfExperts::expert_hidden, model_limits::kFfnHidden).required(),
        "Inner size of one expert."},
       {"groups", whole(&MixtureOfExperts::groups, model_limits::kExpertGroups),
        R"(Groups of experts, of which the router chooses some for each token first, and then experts in them,
so that tokens go to few nodes.
see: strategy.expert_dispatch; DeepSeek-AI 2024 (arXiv:2412.19437), 2.1.2)"},
       {"groups_per_token", whole(&MixtureOfExperts::groups_per_token, model_limits::kExpertGroups),
        R"(Of those each token chooses among.
limits: no more than there are)"},
       {"shared_expert_hidden",
        whole(&MixtureOfExperts::shared_expert_hidden, model_limits::kSharedHidden),
        R"(Inner size of the MLP that every token passes beside its experts, all shared experts
together. 0: there is none.)"},
       {"leading_dense_layers",
        whole(&MixtureOfExperts::leading_dense_layers, model_limits::kLeadingLayers),
        "Layers in front that have an MLP of ffn_hidden instead."},
       {"interval", whole(&MixtureOfExperts::interval, model_limits::kLayers),
        "Behind the leading ones, the last of every so many layers has experts."}});
  return kFields;
}

const FieldTable<LatentAttention>& latent_fields() {
  static const FieldTable<LatentAttention> kFields(
      {{"query_rank", whole(&LatentAttention::query_rank, model_limits::kQueryRank),
        "Size of the narrow layer of the queries. 0: they are projected at once."},
       {"key_value_rank", whole(&LatentAttention::key_value_rank, model_limits::kHidden).required(),
        "Size of the narrow layer of keys and values."},
       {"head_size_without_rotary",
        whole(&LatentAttention::head_size_without_rotary, model_limits::kHeadSize).required(),
        "Elements of a query and key that carry no position."},
       {"rotary_head_size",
        whole(&LatentAttention::rotary_head_size, model_limits::kHeadSize).required(),
        "Elements of a query and key that carry the position; all heads share those of the key."},
       {"value_head_size",
        whole(&LatentAttention::value_head_size, model_limits::kHeadSize).required(),
        "Elements of a value."}});
  return kFields;
}

const FieldTable<SlidingWindow>& window_fields() {
  static const FieldTable<SlidingWindow> kFields(
      {{"size", whole(&SlidingWindow::size, model_limits::kSequenceLength).required(),
        R"(Positions that a position attends to, itself included.
see: profile.device.attention_window_saving)"},
       {"full_attention_interval",
        whole(&SlidingWindow::full_attention_interval, model_limits::kFullAttentionInterval)
            .where([](const SlidingWindow& of) { return of.full_attention_interval > 0; }),
        R"(The last of every so many layers attends to the whole sequence.
default: no such layer)"}});
  return kFields;
}

const FieldTable<SparseAttention>& sparse_fields() {
  static const FieldTable<SparseAttention> kFields(
      {{"positions", whole(&SparseAttention::positions, model_limits::kSequenceLength).required(),
        "Positions that a position attends to."},
       {"index_heads", whole(&SparseAttention::index_heads, model_limits::kHeads).required(),
        "Heads of the indexer, which share a key."},
       {"index_head_size",
        whole(&SparseAttention::index_head_size, model_limits::kHeadSize).required(),
        "Elements of one."}});
  return kFields;
}

const FieldTable<StateSpace>& state_space_fields() {
  static const FieldTable<StateSpace> kFields(
      {{"heads", whole(&StateSpace::heads, model_limits::kHeads).required(),
        R"(Heads, each with a state.
limits: a multiple of groups)"},
       {"head_size", whole(&StateSpace::head_size, model_limits::kHeadSize).required(),
        "Channels of a head."},
       {"state_size", whole(&StateSpace::state_size, model_limits::kStateSize).required(),
        "Elements of the state of a channel."},
       {"groups", whole(&StateSpace::groups, model_limits::kHeads),
        "Groups of heads that share what goes into the state and comes out of it."},
       {"convolution", whole(&StateSpace::convolution, model_limits::kConvolution),
        "Positions that the filter of a channel sees."},
       {"chunk", whole(&StateSpace::chunk, model_limits::kChunk),
        "Positions that the kernel works on together."}});
  return kFields;
}

const FieldTable<SelectiveScan>& selective_scan_fields() {
  static const FieldTable<SelectiveScan> kFields(
      {{"channels", whole(&SelectiveScan::channels, model_limits::kFfnHidden).required(),
        "Channels that are scanned, most often twice hidden."},
       {"state_size", whole(&SelectiveScan::state_size, model_limits::kStateSize).required(),
        "Elements of the state of a channel."},
       {"step_rank", whole(&SelectiveScan::step_rank, model_limits::kHidden).required(),
        "Size of the narrow layer that steps are made through, most often hidden / 16."},
       {"convolution", whole(&SelectiveScan::convolution, model_limits::kConvolution),
        "Positions that the filter of a channel sees."},
       {"convolution_bias", flag(&SelectiveScan::convolution_bias), "The filters have biases."},
       {"bias", flag(&SelectiveScan::bias), "The products inward and outward have biases."},
       {"norms", word(&SelectiveScan::norms),
        R"(RMS norms of the narrow layer and of what goes into states and comes out of them: none, as in
Mamba; plain, without gains, as in Falcon Mamba; scaled, with gains, as in Jamba, whose kernels are then
separate and keep more.
see: Jamba, 2024 (arXiv:2403.19887), 6.4)"}});
  return kFields;
}

const FieldTable<DeltaNet>& delta_net_fields() {
  static const FieldTable<DeltaNet> kFields(
      {{"key_heads", whole(&DeltaNet::key_heads, model_limits::kHeads).required(),
        "Heads of queries and keys."},
       {"value_heads",
        whole(&DeltaNet::value_heads, model_limits::kHeads).settled([](DeltaNet& net) {
          net.value_heads = net.key_heads;
        }),
        R"(Heads of values, each with a state.
limits: a multiple of key_heads
default: key_heads)"},
       {"key_head_size", whole(&DeltaNet::key_head_size, model_limits::kHeadSize).required(),
        "Elements of a query and key."},
       {"value_head_size",
        whole(&DeltaNet::value_head_size, model_limits::kHeadSize).settled([](DeltaNet& net) {
          net.value_head_size = net.key_head_size;
        }),
        R"(Elements of a value.
default: key_head_size)"},
       {"gate_rank", whole(&DeltaNet::gate_rank, model_limits::kQueryRank),
        R"(Size of the narrow layers that the gate is made through, and a decay for every channel of a key.
0: the gate is projected at once, and every head has one decay.
see: Kimi Linear, 2025 (arXiv:2510.26692))"},
       {"convolution", whole(&DeltaNet::convolution, model_limits::kConvolution),
        "Positions that the filter of a channel sees."},
       {"chunk", whole(&DeltaNet::chunk, model_limits::kChunk),
        "Positions that the kernel works on together."},
       {"full_attention_interval",
        whole(&DeltaNet::full_attention_interval, model_limits::kFullAttentionInterval)
            .where([](const DeltaNet& of) { return of.full_attention_interval > 0; }),
        R"(The last of every so many layers has attention instead.
default: no such layer)"}});
  return kFields;
}

const FieldTable<ShortConvolution>& short_convolution_fields() {
  static const FieldTable<ShortConvolution> kFields(
      {{"positions", whole(&ShortConvolution::positions, model_limits::kConvolution),
        "Positions that the filter of a channel sees."},
       {"bias", flag(&ShortConvolution::bias), "Its products and its filter have biases."}});
  return kFields;
}

}  // namespace

const FieldTable<TransformerModel>& transformer_fields() {
  static const FieldTable<TransformerModel> kFields(
      {{"name", text(&TransformerModel::name),
        R"(What reports call the model.
default: "unnamed model")"},
       {"source", text(&TransformerModel::source), "Where the numbers were published."},
       {"layers", whole(&TransformerModel::layers, model_limits::kLayers).required(),
        R"(Transformer layers; or an array of objects, a list of layers.
see: strategy.pipeline_parallel)"},
       {"hidden", whole(&TransformerModel::hidden, model_limits::kHidden).required(),
        "Size of the residual stream, the model dimension."},
       {"attention_heads",
        whole(&TransformerModel::attention_heads, model_limits::kHeads).required(),
        R"(Query heads of a layer.
limits: divides hidden, unless head_size is given)"},
       {"kv_heads",
        whole(&TransformerModel::kv_heads, model_limits::kHeads)
            .settled([](TransformerModel& model) { model.kv_heads = model.attention_heads; }),
        R"(Heads of keys and values. Fewer than attention_heads is grouped-query attention (GQA),
1 is multi-query attention (MQA).
limits: divides attention_heads
see: Ainslie et al. 2023 (arXiv:2305.13245)
default: attention_heads)"},
       {"head_size", whole(&TransformerModel::head_size, model_limits::kHeadSize),
        R"(Elements of one head.
default: hidden / attention_heads)"},
       {"latent_attention", part(&TransformerModel::latent_attention, latent_fields),
        R"(Multi-head latent attention (MLA): queries, and keys with values, pass through a narrow
layer. kv_heads and head_size then follow from it.
see: DeepSeek-AI 2024 (arXiv:2405.04434), 2.1)"},
       {"sparse_attention", part(&TransformerModel::sparse_attention, sparse_fields),
        R"(Latent attention to a few positions, which an indexer of narrow heads picks for each.
limits: needs latent_attention with a query_rank
see: DeepSeek-AI 2025 (DeepSeek-V3.2), 2.1)"},
       {"layer_pattern",
        text(&TransformerModel::layer_pattern).where([](const TransformerModel& model) {
          return !model.layer_pattern.empty();
        }),
        R"(A letter a layer, each one half of a layer behind a norm of its own. M is a state space, S a selective
scan, D a delta net, C a short convolution, * attention, - an MLP, E a mixture of experts.
limits: as long as layers)"},
       {"state_space", part(&TransformerModel::state_space, state_space_fields),
        R"(Mamba-2, in the layers that layer_pattern gives an M.
see: Dao and Gu 2024 (arXiv:2405.21060))"},
       {"selective_scan", part(&TransformerModel::selective_scan, selective_scan_fields),
        R"(Mamba, in the layers that layer_pattern gives an S.
see: Gu and Dao 2023 (arXiv:2312.00752))"},
       {"delta_net", part(&TransformerModel::delta_net, delta_net_fields),
        R"(A gated delta net in the place of attention, in the layers that layer_pattern gives a D; without
one in all but the last of every full_attention_interval.
see: Yang et al. 2024 (arXiv:2412.06464))"},
       {"short_convolution", part(&TransformerModel::short_convolution, short_convolution_fields),
        R"(A short filter along the sequence between two gates, in the layers that layer_pattern gives a C.
see: LFM2, 2025 (arXiv:2511.23404))"},
       {"sliding_window", part(&TransformerModel::sliding_window, window_fields),
        R"(Layers that attend to the last positions only.
see: Beltagy et al. 2020)"},
       {"query_key_norms",
        word(&TransformerModel::query_key_norms).where([](const TransformerModel& model) {
          return model.query_key_norms != QueryKeyNorms::none;
        }),
        R"(Norms of queries and keys, of the kind of the others: with a gain for each element of a head, which
heads share (each_head: Qwen3, Gemma 3), or for each element of all of them (all_heads: OLMo 2).
limits: not with latent_attention
see: Dehghani et al. 2023 (arXiv:2302.05442), 2
default: none)"},
       {"attention_gate", flag(&TransformerModel::attention_gate),
        R"(What attention gives is multiplied with a gate of its size, which is projected with the
queries.
limits: not with latent_attention)"},
       {"attention_sinks", flag(&TransformerModel::attention_sinks),
        R"(A learned logit of each head joins its softmax, as in gpt-oss.
see: profile.device.attention_sink_factor)"},
       {"ffn_hidden", whole(&TransformerModel::ffn_hidden, model_limits::kFfnHidden).required(),
        "Inner size of the MLP (intermediate size, FFN dimension)."},
       {"mlp", word(&TransformerModel::gated_mlp, kMlps).required(),
        R"(How many matrices the MLP has. Two if plain, three if gated (SwiGLU and relatives).
see: Shazeer 2020 (arXiv:2002.05202))"},
       {"activation", word(&TransformerModel::activation).where([](const TransformerModel& model) {
          return model.activation != ActivationFunction::gelu;
        }),
        R"(Activation function of the MLP. The gradient of a ReLU needs its result only, which is kept anyway;
that of GELU, SiLU and their relatives, all of them called gelu here, needs what it took. Of a gated
MLP as much is kept either way, the factors of its product. gelu_new, of GPT-2, GPT-Neo, GPT-J,
CodeGen and Phi in transformers, is eight operations that keep four tensors, where
strategy.fused_activation is off.
default: gelu)"},
       {"mixture_of_experts", part(&TransformerModel::mixture_of_experts, expert_fields),
        R"(Many MLPs, the experts, of which a router chooses a few for each token.
see: strategy.expert_parallel; Fedus et al. 2021 (arXiv:2101.03961))"},
       {"vision", part(&TransformerModel::vision, vision_tower_fields),
        R"(An encoder of images in front of the decoder. What it makes of their patches takes the place of
words in the sequence. It is trained with the rest.
see: Liu et al. 2023 (arXiv:2304.08485), 4.1)"},
       {"multi_token_prediction_layers",
        whole(&TransformerModel::multi_token_prediction_layers, model_limits::kPredictionLayers),
        R"(Layers behind the last that predict a token further ahead each, in training. They stand
on the last stage, each with a layer and a pass of the output head.
see: DeepSeek-AI 2024 (arXiv:2412.19437), 2.2)"},
       {"vocabulary", whole(&TransformerModel::vocabulary, model_limits::kVocabulary).required(),
        "Rows of the token embedding, padding included."},
       {"tied_embeddings", flag(&TransformerModel::tied_embeddings),
        "The output head reuses the token embedding."},
       {"normalization", word(&TransformerModel::normalization),
        "The norm before attention, before the MLP and before the output head."},
       {"normalization_bias",
        flag(&TransformerModel::normalization_bias).settled([](TransformerModel& model) {
          model.normalization_bias = model.normalization == Normalization::layer_norm;
        }),
        R"(The norms have a bias.
limits: false for an RMS norm
default: true for a layer norm)"},
       {"position_encoding", word(&TransformerModel::position_encoding),
        R"(How positions enter. A learned table has parameters and ends at sequence_length; "none"
stands for ALiBi too.)"},
       {"dropout",
        flag(&TransformerModel::dropout)
            .only_where(
                [](const TransformerModel& model) {
                  return model.position_encoding == PositionEncoding::learned;
                },
                {"position_encoding", "\"learned\"", "other models have none"}),
        R"(Embeddings, residuals and the probabilities of unfused attention are dropped out, which keeps masks
and, of probabilities in fp32, is a pass of its own.)"},
       {"qkv_bias", flag(&TransformerModel::qkv_bias),
        "The query, key and value projections have biases."},
       {"projection_bias", flag(&TransformerModel::projection_bias),
        "The output projection of attention has a bias."},
       {"mlp_bias", flag(&TransformerModel::mlp_bias), "The matrices of the MLP have biases."},
       {"sequence_length",
        whole(&TransformerModel::sequence_length, model_limits::kSequenceLength).required(),
        R"(Tokens of a sequence that the model is trained at.
see: strategy.sequence_length)"}});
  return kFields;
}

}  // namespace headway
