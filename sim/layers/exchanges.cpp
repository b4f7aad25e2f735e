#include "sim/layers/exchanges.h"

#include "sim/base/diagnostic.h"

namespace headway {

Bytes tensor_message(const TensorExchange& exchange, const RankShape& shape) {
  return Bytes(shape.tokens() * exchange.width * shape.element_bytes);
}

Bytes gathered_message(const TensorExchange& exchange, const RankShape& shape) {
  return Bytes(shape.tokens() * exchange.width * shape.gathered_bytes);
}

Bytes logits_message(const Layer& last, const RankShape& shape) {
  if (!shape.whole_loss || shape.tensor_parallel == 1.0) return Bytes(0.0);
  return Bytes(shape.tokens() * last.loss_classes * shape.element_bytes);
}

double exchanged_again(const Layer& layer, const RankShape& shape, const RecomputeParts& parts) {
  const double gathered_alone = shape.sequence_parallel ? 0.5 : 0.0;  // of a sum over ranks
  double all = 0.0;
  double again = 0.0;
  for (const TensorExchange& exchange : layer.exchanges) {
    const double moved = (exchange.only_enters ? gathered_alone : 1.0) * exchange.width;
    all += moved;
    again += exchange.again.share(parts) * moved;
  }
  return all > 0.0 ? again / all : 0.0;
}

ContextMessages context_messages(const Layer& layer, const RankShape& shape) {
  if (!layer.attention || layer.attention->block > 0.0) return {};
  const AttentionCore& core = *layer.attention;
  const Bytes channel(shape.tokens() * shape.element_bytes / shape.tensor_parallel);
  const double asking = core.heads * core.queries;
  const double asked = core.key_heads * core.keys;
  return {.queries = asking * core.head_size * channel,
          .keys = asked * core.head_size * channel,
          .values = asked * core.value_head_size * channel,
          .outputs = asking * core.value_head_size * channel};
}

Bytes routed_message(const Layer& layer, const RankShape& shape) {
  HEADWAY_CHECK(layer.routing.has_value(), "a layer without experts routes nothing");
  const ExpertRouting& routing = *layer.routing;
  return Bytes(shape.residual_tokens() * routing.experts_per_token *
               expert_load(routing.experts, shape) * routing.width * shape.element_bytes);
}

Bytes stage_message(const Layer& last_of_stage, const RankShape& shape) {
  const double shares = shape.split_messages ? shape.tensor_parallel : 1.0;
  return Bytes(shape.tokens() * last_of_stage.output * shape.element_bytes / shares);
}

}  // namespace headway
