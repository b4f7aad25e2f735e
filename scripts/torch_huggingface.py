#!/usr/bin/env python3
"""Trains models of Hugging Face transformers on one GPU, as its Trainer does, and writes what a step
took, as rows that `headway validate --sync --rows FILE` predicts.

    scripts/torch_huggingface.py -o rows.json [--only WORD]... [--seconds N]

The library's own layers in the widths of well-known models, of which a few layers each: weights in
fp32 or bf16, products in bf16 by autocast, gradients clipped, AdamW fused, attention by PyTorch's
scaled_dot_product_attention unless a job says otherwise; adapters are peft's. Inputs are on the device
already. A row says the median of the steps. What comes next is begun only while less than N seconds
(200) have passed; rows are written after each job.

Needs PyTorch with CUDA and transformers, for some jobs peft, and nothing of Headway. Exit codes: 0
done; 2 wrong option; 3 no PyTorch or no GPU, or a job failed: the rest is in FILE.
"""

import sys

try:
    import torch
    import transformers
except ImportError as error:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        sys.exit(0)
    print(f"torch_huggingface.py: {error}; PyTorch with CUDA and transformers are needed", file=sys.stderr)
    sys.exit(3)

from torch_measure import main, training_step

LLAMA3_8B = {
    "name": "Llama 3 8B", "hidden": 4096, "attention_heads": 32, "kv_heads": 8, "head_size": 128, "ffn_hidden": 14336,
    "mlp": "gated", "vocabulary": 128256, "tied_embeddings": False, "normalization": "rms_norm",
    "position_encoding": "rotary", "qkv_bias": False, "projection_bias": False, "mlp_bias": False,
}
LLAMA2_7B = {**LLAMA3_8B, "name": "Llama 2 7B", "kv_heads": 32, "ffn_hidden": 11008, "vocabulary": 32000}
LLAMA_1B = {
    **LLAMA3_8B, "name": "Llama 3.2 1B", "hidden": 2048, "head_size": 64, "ffn_hidden": 8192, "tied_embeddings": True,
}
QWEN2_7B = {
    **LLAMA3_8B, "name": "Qwen2 7B", "hidden": 3584, "attention_heads": 28, "kv_heads": 4, "ffn_hidden": 18944,
    "vocabulary": 152064, "qkv_bias": True,
}
QWEN3_30B = {
    **LLAMA3_8B, "name": "Qwen3 30B-A3B", "hidden": 2048, "kv_heads": 4, "ffn_hidden": 6144, "vocabulary": 151936,
    "mixture_of_experts": {"experts": 128, "experts_per_token": 8, "expert_hidden": 768},
}
MIXTRAL = {
    **LLAMA3_8B, "name": "Mixtral 8x7B", "vocabulary": 32000,
    "mixture_of_experts": {"experts": 8, "experts_per_token": 2, "expert_hidden": 14336},
}
GPT2_MEDIUM = {
    **LLAMA3_8B, "name": "GPT-2 medium", "hidden": 1024, "attention_heads": 16, "kv_heads": 16, "head_size": 64,
    "ffn_hidden": 4096, "mlp": "plain", "activation": "gelu_new", "vocabulary": 50257, "tied_embeddings": True,
    "normalization": "layer_norm",
    "position_encoding": "learned", "qkv_bias": True, "projection_bias": True, "mlp_bias": True, "dropout": True,
}
FULL = {"recompute": "full"}
LORA = {"task": "lora", "lora_rank": 16, "lora_targets": ["qkv", "projection", "fc1", "fc2"]}


def configuration(model, length):
    """What the library calls the parts of a model."""
    words = {
        "vocab_size": model["vocabulary"], "hidden_size": model["hidden"], "num_hidden_layers": model["layers"],
        "num_attention_heads": model["attention_heads"], "num_key_value_heads": model["kv_heads"],
        "intermediate_size": model["ffn_hidden"], "max_position_embeddings": length, "use_cache": False,
        "tie_word_embeddings": model["tied_embeddings"],
    }
    experts = model.get("mixture_of_experts", {})
    if model["name"].startswith("GPT-2"):
        return transformers.GPT2Config(
            vocab_size=model["vocabulary"], n_positions=length, n_embd=model["hidden"], n_layer=model["layers"],
            n_head=model["attention_heads"], use_cache=False,
        )
    if model["name"].startswith("Mixtral"):
        return transformers.MixtralConfig(**words, sliding_window=None)
    if experts:
        return transformers.Qwen3MoeConfig(
            **words, head_dim=model["head_size"], num_experts=experts["experts"],
            num_experts_per_tok=experts["experts_per_token"], moe_intermediate_size=experts["expert_hidden"],
            norm_topk_prob=True,
        )
    kind = transformers.Qwen2Config if model["name"].startswith("Qwen2") else transformers.LlamaConfig
    return kind(**words)


def built(model, length, sequences, weights, attention, recomputed, adapters, compiled):
    def build():
        torch.set_default_dtype(weights)
        try:
            network = transformers.AutoModelForCausalLM.from_config(
                configuration(model, length), attn_implementation=attention
            )
        finally:
            torch.set_default_dtype(torch.float32)
        if recomputed:
            network.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if adapters:
            import peft

            if recomputed:
                network.enable_input_require_grads()
            targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
            network = peft.get_peft_model(network, peft.LoraConfig(r=16, lora_alpha=16, target_modules=targets))
        words = torch.randint(model["vocabulary"], (sequences, length), device="cuda")
        called = torch.compile(network, dynamic=False) if compiled else network
        trained = [weight for weight in network.parameters() if weight.requires_grad]
        optimizers = [torch.optim.AdamW(trained, lr=1e-5, fused=True)]
        return network, lambda: called(input_ids=words, labels=words).loss, optimizers

    return build


def job(model, layers, length, sequences, weights=torch.float32, attention="sdpa", recomputed=False, adapters=False,
        compiled=False):
    model = {**model, "layers": layers, "sequence_length": length}
    strategy = {"preset": "transformers", "micro_batch": sequences, "global_batch": sequences}
    words = ["hf", model["name"].lower().replace(" ", "-"), f"{layers}x", str(length), str(sequences)]
    if weights is torch.bfloat16:
        strategy["preset"] = "transformers-bf16"
        words += [] if adapters else ["bf16"]
    if attention != "sdpa":
        words.append("unfused")
        strategy["attention"] = "unfused"
    if adapters:
        words.append("lora")
        strategy |= {**LORA, "packed_length": length}
    if recomputed:
        words.append("recomputed")
        strategy |= FULL
    if compiled:
        words.append("compiled")
        # The loss is in the graph too: its logits in fp32 are never written.
        strategy |= {"kernel_family": "torch-compile", "fused_normalization": True, "fused_activation": True,
                     "fused_operators": True, "fused_loss": True}
    model["name"] += f", {layers} layers"
    build = built(model, length, sequences, weights, attention, recomputed, adapters, compiled)
    return "-".join(words), lambda: training_step(build, clipped=True), {"model": model, "strategy": strategy}


HALVES = torch.bfloat16
# What tells most comes first.
JOBS = [
    job(LLAMA3_8B, 4, 8192, 1),
    job(LLAMA3_8B, 8, 8192, 1, HALVES),
    job(LLAMA3_8B, 16, 4096, 2, HALVES, adapters=True),
    job(LLAMA3_8B, 16, 4096, 2, HALVES, adapters=True, recomputed=True),
    job(QWEN3_30B, 2, 4096, 2),
    job(GPT2_MEDIUM, 24, 1024, 1),
    job(GPT2_MEDIUM, 24, 1024, 16),
    job(LLAMA3_8B, 4, 2048, 4),
    job(LLAMA3_8B, 8, 8192, 2, HALVES, recomputed=True),
    job(LLAMA2_7B, 4, 4096, 2),
    job(LLAMA2_7B, 4, 4096, 2, attention="eager"),
    job(QWEN2_7B, 4, 4096, 2),
    job(MIXTRAL, 1, 4096, 2),
    job(LLAMA_1B, 16, 2048, 4),
    job(LLAMA_1B, 16, 2048, 1, HALVES),
    job(LLAMA_1B, 16, 512, 4, HALVES, adapters=True),
    job(QWEN3_30B, 2, 4096, 2, HALVES),
    job(MIXTRAL, 1, 4096, 2, HALVES),
    job(LLAMA3_8B, 4, 8192, 1, compiled=True),
]

if __name__ == "__main__":
    sys.exit(main("torch_huggingface.py", __doc__, JOBS))
