#pragma once

#include "sim/files/field_table.h"

namespace headway {

/// What training software keeps in memory beside what other choices of a job decide. Sets memory
/// only, but for the optimizer's states, which an update moves.
struct SoftwareMemory {
  /// Bytes of optimizer states for each parameter, before sharding; below 0: what the optimizer
  /// keeps in fp32 and, beside parameters of less, a copy of the parameters in fp32.
  double optimizer_state_bytes = -1.0;

  [[nodiscard]] bool says_optimizer_states() const { return optimizer_state_bytes >= 0.0; }
  /// Matrices of layers are there in the format of their products only.
  bool quantised_weights = false;
  /// Copies of the layers' matrices in the format of products, which stand beside the matrices
  /// themselves from one micro-batch to the next.
  int quantised_copies = 0;
  /// What the MLP's activation function takes is kept in the format of the products.
  bool quantised_activation_input = false;
  /// Inputs of split matrices are kept as sequence-parallel ranks gathered them, not gathered
  /// again.
  bool gathered_inputs = false;
  /// Attention's output is there twice: as its kernel left it, and as the projection took it.
  bool copied_attention_output = false;
  /// The logits of the micro-batch before are all still there.
  bool previous_logits = false;
  /// The softmax of unfused attention is one kernel that keeps its result in 16 bits.
  bool fused_softmax = true;
  /// What passes between layers, and into their norms, is in fp32.
  bool wide_residuals = false;
  /// Communicators beside one for each degree that splits the job.
  int communicators = 0;
  /// Gradients are copied behind one another to be reduced, and there is always somebody to reduce
  /// them with.
  bool flattened_gradients = false;
  /// The buckets in which replicas reduce gradients stand beside the gradients, all the time.
  bool standing_buckets = false;
  /// Gradients are let go after the update and come anew, layer by layer, as a backward pass lets
  /// go of what the forward pass kept.
  bool freed_gradients = false;
  /// Gradients of parameters that the host updates leave as the backward pass makes them.
  bool offloaded_gradients = false;
  /// What the allocator holds beyond what is in use, as a share of the memory that comes and goes
  /// in a step: the 15 % that GMLake (Guo et al., ASPLOS 2024) wins back from PyTorch's on average.
  double allocator_reserve = 0.15;
  friend bool operator==(const SoftwareMemory&, const SoftwareMemory&) = default;
};

/// The fields of "memory".
[[nodiscard]] const FieldTable<SoftwareMemory>& software_memory_fields();

/// The "memory" object of a strategy; `habits` where it says nothing. Resolved only where somebody
/// says something.
[[nodiscard]] SoftwareMemory read_software_memory(ObjectReader& strategy,
                                                  const SoftwareMemory& habits);

/// What reads back as it; null if it is as most have it.
[[nodiscard]] JsonValue written_software_memory(const SoftwareMemory& memory);

}  // namespace headway
