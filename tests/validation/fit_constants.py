"""What the fit may change: constants of the profiles, and the effects that move them.

A constant stands in many places: once a kind of accelerator, or once a family of software. Each
place starts at a prior, which rests on measurements of single kernels, on data sheets or on the
count of what software moves. What is free is not the places but effects: factors that the places of
some members share. An effect is drawn from a lognormal distribution of median 1 and the width given
here, so that members with few rows stay near the mean of their kind (partial pooling), and software
or a cluster that nobody measured is at it. Effects of a source stand for its cluster and its people
(NICs, clocks, how far its code is from others of its kind) and belong to its rows alone.
"""

ARCHITECTURE = {
    "v100_sxm": "volta and ampere", "a100_sxm_40gb": "volta and ampere",
    "a100_sxm_80gb": "volta and ampere", "h100_sxm": "hopper", "h200_sxm": "hopper",
    "b200_sxm": "blackwell", "b300_sxm": "blackwell", "gb200": "blackwell", "gb300": "blackwell",
}
AMPERE = ("a100_sxm_40gb", "a100_sxm_80gb")
HOPPER = ("h100_sxm", "h200_sxm")
BLACKWELL = ("b200_sxm", "b300_sxm", "gb200", "gb300")

# Kernels of NVIDIA's own software, run on the clusters it was tuned on.
CURRENT = ("fused", "mlperf", "jax")
EARLY = ("megatron-2021", "megatron-2022")
REFERENCE = CURRENT + EARLY
# Everybody else's.
COMMUNITY = ("deepspeed", "composer", "torch-compile", "torch-eager", "internevo", "aleph-alpha",
             "aleph-alpha-unfused-norm", "aleph-alpha-flash-1")
# The first FlashAttention or its Triton twin.
FLASH_1 = ("composer", "internevo", "aleph-alpha-flash-1")
# Layers that Python issues kernel by kernel; compilers issue theirs from C++.
INTERPRETED = ("fused", "megatron-2021", "megatron-2022", "deepspeed", "composer", "torch-eager",
               "internevo", "aleph-alpha", "aleph-alpha-unfused-norm", "aleph-alpha-flash-1")

# What layers count of a logit (sim/layers/layer.h).
LAYERS_LOSS_BYTES = 18.0

# Of the published rows: those with enough of them, over more than one configuration, to tell how
# their cluster differs.
SOURCES = ("alephalpha_layouts", "bigscience", "dgxc_benchmarking", "fms_fsdp", "full_runs",
           "internevo", "korthikanti2022", "llm_foundry", "megascale", "megatron_bridge",
           "megatron_lm_readme", "megatron_moe_modelzoo", "mlperf_lora", "mlperf_pretrain",
           "narayanan2021_table2", "nemo_automodel", "nemo_framework", "torchtitan", "zero_bubble")
# Of those, tables that the maker of accelerators keeps of its current software, and submissions to
# a benchmark with that: clusters and settings are tuned to the steps that stand in them.
TUNED = ("dgxc_benchmarking", "megatron_bridge", "megatron_moe_modelzoo", "mlperf_lora",
         "mlperf_pretrain", "nemo_automodel", "nemo_framework")
# Those of them that are further off than the kind of their software, in what it sends.
APART = ("alephalpha_layouts", "bigscience", "llm_foundry")


class Effect:
    """A factor that members share. `of` says what they are: "all", "accelerators", "families", or
    "source": of its releases only, or of its "mixtures" of experts or "dense" models, if it says
    so."""

    def __init__(self, name, of, members, width, releases=(), models=None):
        self.name, self.of, self.members, self.width = name, of, tuple(members), width
        self.releases, self.models = releases, models

    def concerns(self, row):
        if self.of == "all":
            return True
        if self.of == "accelerators":
            return row["profile"] in self.members
        if self.of == "families":
            return row["family"] in self.members
        return (row["source"] in self.members
                and self.models in (None, "mixtures" if row["mixture"] else "dense")
                and (not self.releases or row["release"] in self.releases))

    def is_shared(self):
        """By several sources: one that is left out has it as the others tell it."""
        return self.of == "source" and len(self.members) > 1

    def filed_under(self):
        """The names in scenarios/validation/sources.json."""
        ends = [f", {release}" for release in self.releases] or [""]
        return [f"{source}{end}{f', {self.models}' if self.models else ''}"
                for source in self.members for end in ends]

    def moves(self, profile, family):
        """Whether the constant's place of this accelerator (and family) is among the members'."""
        return (self.of == "all" or (self.of == "accelerators" and profile in self.members)
                or (self.of == "families" and family in self.members))


class Constant:
    """`pointers` are JSON pointers in a profile, {family} stands for names; `prior` is one number
    for all places, or one for each accelerator or family ("*": the others). `source_field` is what
    effects of a source are filed under in scenarios/validation/sources.json."""

    def __init__(self, name, pointers, prior, effects, unit="", source_field=None, least=0.0,
                 most=float("inf")):
        self.name, self.pointers, self.prior, self.effects = name, pointers, prior, effects
        self.unit, self.source_field, self.least, self.most = unit, source_field, least, most

    def median(self, profile, family):
        if not isinstance(self.prior, dict):
            return self.prior
        for key in (family, profile, "*"):
            if key in self.prior:
                return self.prior[key]
        return None


def everywhere(width):
    return [Effect("all", "all", (), width)]


def of_chips(width, *groups):
    return [Effect(" and ".join(group), "accelerators", group, width) for group in groups]


def of_families(name, families, width):
    return Effect(name, "families", families, width)


def of_sources(sources, width):
    return [Effect(source, "source", (source,), width) for source in sources]


def of_releases(source, width, *releases):
    return [Effect(f"{source}, {release}", "source", (source,), width, releases=(release,))
            for release in releases]


DEVICE = "/device/"
FAMILY = "/kernel_families/{family}/"

CONSTANTS = [
    # Matrix products
    # Products of all shapes are as they were measured (calibrate/profiles/kernels). In training they
    # run at the clocks that the power allows, and in other releases of the libraries.
    Constant("16-bit products in training", [DEVICE + "rate_in_training/bf16"], 1.0,
             of_chips(0.03, AMPERE, HOPPER, ("b200_sxm",), ("b300_sxm",), ("gb200",), ("gb300",)),
             most=2.0),
    Constant("8-bit products in training", [DEVICE + "rate_in_training/fp8"], 1.0,
             of_chips(0.04, HOPPER, BLACKWELL), most=2.0),
    Constant("4-bit products in training", [DEVICE + "rate_in_training/fp4"], 1.0,
             of_chips(0.08, BLACKWELL), most=2.0),
    # Benchmarks repeat a product on the operands that the cache still holds; in training they come
    # from memory and their first tiles are waited for.
    Constant("cold operands", [DEVICE + "gemm_cold_operands"], 0.8, everywhere(0.25), most=2.0),
    # Every micro-batch reads the fp32 sum of its weights' gradients and writes it again: 8 bytes
    # where the product's own result has 2 (Megatron-LM, gradient accumulation fusion).
    Constant("gradient accumulation", [DEVICE + "gradient_accumulation_bytes_per_weight"], 6.0,
             everywhere(0.25), "B"),
    # Attention. On Hopper cuDNN's as headway-calibrate measured it (calibrate/profiles/measured), on
    # Blackwell that of an inference library (ship_attention_kernels.py), less near to what training
    # runs; FlashAttention 2, the fastest on Ampere, is narrow where it was measured
    # (tests/sim/costs/shipped_profiles_test.cpp).
    Constant("attention efficiency", [DEVICE + "attention_efficiency"],
             {"v100_sxm": 0.30, "a100_sxm_40gb": 0.68, "a100_sxm_80gb": 0.68, "h100_sxm": 0.672,
              "h200_sxm": 0.672, "b200_sxm": 0.557, "gb200": 0.571, "b300_sxm": 0.677,
              "gb300": 0.751},
             [*of_chips(0.04, AMPERE), *of_chips(0.1, HOPPER),
              *of_chips(0.15, ("b200_sxm",), ("b300_sxm",), ("gb200",), ("gb300",))]),
    Constant("FlashAttention 2 on Hopper", [DEVICE + "attention_kernels/flash-2/efficiency"],
             {"h100_sxm": 0.40, "h200_sxm": 0.40}, of_chips(0.04, HOPPER)),
    # Software of 2023 ran the first FlashAttention or its Triton twin, which take about 1.7 times as
    # long as the second (Dao 2023, section 4.1).
    Constant("attention rate", [FAMILY + "attention_rate"],
             {"*": 1.0, **{family: 0.6 for family in FLASH_1}},
             [of_families("first FlashAttention", FLASH_1, 0.2)], most=1.0),
    # Measured on an H200: 0.80 (cuDNN, calibrate/profiles/measured).
    Constant("attention backward",
             [DEVICE + "attention_backward", DEVICE + "attention_kernels/flash-2/backward"], 0.8,
             everywhere(0.05)),
    Constant("attention head size", [DEVICE + "attention_head_exponent"],
             {"v100_sxm": 0.3, "a100_sxm_40gb": 0.3, "a100_sxm_80gb": 0.3}, of_chips(0.5, AMPERE)),
    Constant("attention over contexts", [DEVICE + "attention_context_factor"], 1.1,
             everywhere(0.15)),
    # Heads of 128 leave unfused products to the memory that their scores go through.
    Constant("batched products", [DEVICE + "batched_gemm_efficiency"], 0.8, []),
    Constant("misaligned heads", [DEVICE + "misaligned_head_factor"], 4.0, everywhere(0.5)),
    # Memory
    # The H200's was traced, and stays.
    Constant("memory efficiency", [DEVICE + "memory_efficiency"],
             {name: 0.80 for name in ("v100_sxm", *AMPERE, "h100_sxm", *BLACKWELL)},
             everywhere(0.05)),
    # Kernels that are not fused move every intermediate result. An eager RMS norm in fp32 moves 40
    # bytes an element where one kernel moves 4, an eager SwiGLU 10 where one moves 6; with two norms
    # and two residuals that is 3.3 times the traffic of a layer of Llama 13B, and 1.5 times where
    # only the norm is fused. MPT's norms are one kernel in 16 bits each (low_precision_layernorm of
    # llm-foundry), its residuals one addition, its GELUs one kernel: what layers count. PyTorch of
    # 2024 gains 15.7 % by compiling Llama 3.1 8B on 8 H100 (torchtitan, benchmarks of December
    # 2024, table 1): 2.5 times the traffic, and no other software tells of it.
    Constant("memory traffic", [FAMILY + "memory_traffic"],
             {"*": 1.0, "torch-eager": 2.5, "aleph-alpha-unfused-norm": 3.3,
              "aleph-alpha-flash-1": 3.3, "aleph-alpha": 1.5, "internevo": 1.5},
             [of_families("NVIDIA's", CURRENT, 0.3), of_families("NVIDIA's until 2022", EARLY, 0.3),
              of_families("others'", tuple(f for f in COMMUNITY if not f.startswith("torch")), 0.3),
              *of_sources(("alephalpha_layouts", "bigscience"), 0.25)],
             source_field="memory_traffic"),
    # Megatron-LM's cross-entropy moves 52 bytes a logit (tensor_parallel/cross_entropy.py): to fp32
    # 6, maximum 4, difference 8, exponential 8, sum 4, quotient 8; backward product 8, to 16 bits 6.
    # Merged by a compiler 30: to fp32 with its maximum 6, difference and exponential 8, quotient 8,
    # product and cast 8 (fusions/fused_cross_entropy.py). PyTorch's own of fp32 logits 44: to fp32
    # 6, log-softmax 12, its gradient's zeros 4 and loss 4, backward 12, to 16 bits 6. Compiled with
    # the rest of a model 10: two passes of 2 and one forth and back of 6. flash-attention's 6:
    # logits read, then read and written in place, in 16 bits; in fp32 with both casts 24.
    Constant("loss traffic", [FAMILY + "loss_traffic"],
             {family: bytes_moved / LAYERS_LOSS_BYTES for family, bytes_moved in {
                 "*": 52, "mlperf": 30, "torch-eager": 44, "torch-compile": 10, "jax": 30,
                 "composer": 6, "internevo": 24, "aleph-alpha": 44,
                 "aleph-alpha-unfused-norm": 44, "aleph-alpha-flash-1": 44}.items()},
             [*everywhere(0.3), of_families("NVIDIA's", ("fused",), 0.3)]),
    Constant("cast delayed", [DEVICE + "cast_bytes_per_element"], 4.0, everywhere(0.4), "B"),
    Constant("cast current", [DEVICE + "cast_bytes_by_recipe/fp8_current"], 6.0, everywhere(0.4),
             "B"),
    Constant("cast mxfp8", [DEVICE + "cast_bytes_by_recipe/mxfp8"], 6.0, everywhere(0.4), "B"),
    # Host. Small jobs of Megatron-DeepSpeed on A100 take 3.2 to 3.6 ms for a layer and a micro-batch
    # however little the devices do (vTrain, data/ground_truth_single.csv): forward, forward again and
    # a backward pass of 1.5 times that. Python issues the layers of others alike.
    Constant("launch gap", [FAMILY + "launch_gap_s"], 1.5e-6,
             [of_families("NVIDIA's", ("fused", "mlperf"), 0.5)], "s"),
    Constant("host of a layer", [FAMILY + "host_per_layer_s"],
             {"*": 250e-6, **{family: 0.88e-3 for family in INTERPRETED}}, [], "s"),
    Constant("step overhead", [FAMILY + "step_overhead_s"], 8e-3, everywhere(0.6), "s"),
    # Network
    # nccl-tests over two to ten nodes reach 0.88 to 0.98 of the NICs.
    Constant("scale-out efficiency", ["/scale_out/bandwidth_efficiency"], 0.88,
             of_chips(0.07, AMPERE), most=1.0),
    # Software that all-reduces fp32 gradients, then gathers 16-bit parameters of a sharded
    # optimizer moves (8 + 2) / (4 + 2) = 1.7 times as much (Aleph-Alpha/scaling, allreduce.py).
    # InternEvo shares out whole tensors, whose all-reduces are counted as such.
    Constant("gradient traffic", [FAMILY + "gradient_traffic"],
             {**{family: 1.0 for family in REFERENCE}, **{family: 2.0 for family in COMMUNITY},
              "torch-compile": 1.0, "torch-eager": 1.0, "internevo": 1.0, "deepspeed": 3.0,
              "aleph-alpha": 3.4, "aleph-alpha-unfused-norm": 3.4, "aleph-alpha-flash-1": 3.4},
             [of_families("others'", tuple(f for f in COMMUNITY if f != "internevo"), 0.8),
              *of_sources((*APART, "torchtitan"), 0.35)],
             source_field="gradient_traffic", least=1.0),
    # Overlapped collectives take multiprocessors and memory bandwidth from the products beside them.
    # Asynchronous tensor parallelism gains 4 to 10 % of a step that exchanges for 14 to 17 % of it
    # (torchtitan, benchmarks of June 2025); MegaScale's 4.1 % of 15 (Jiang et al. 2024, table 3).
    Constant("tensor overlap", ["/overlap/tensor_parallel_overlapped"], 0.6,
             [*of_chips(0.4, HOPPER), *of_chips(0.2, BLACKWELL)], most=1.0),
    Constant("gradient floor", ["/overlap/gradient_reduce_floor"], 0.12, everywhere(0.5)),
    Constant("sharded interference", ["/overlap/sharded_interference"], 0.12, everywhere(0.5)),
    # Mixtures of experts
    Constant("grouped efficiency", ["/experts/grouped_efficiency"], 0.85, everywhere(0.15),
             most=1.0),
    Constant("permutation", ["/experts/permutation_bytes_per_element"], 8.0, everywhere(0.4), "B"),
    Constant("exchange inside", ["/experts/exchange_scale_up_efficiency"], 0.5, everywhere(0.4),
             most=0.95),
    Constant("exchange across", ["/experts/exchange_scale_out_efficiency"], 0.6, everywhere(0.4),
             most=1.0),
    Constant("exchange seen", ["/experts/exchange_seen"], 0.8, everywhere(0.3), most=1.0),
    Constant("exchange seen of overlapped", ["/experts/exchange_seen_overlapped"], 0.3,
             everywhere(0.5), most=1.0),
    # A layer of experts launches about 50 kernels where a dense one launches 14 (router, sorting,
    # exchange, permutation there and back, grouped products); each takes the host what those of a
    # dense layer do.
    Constant("expert host", ["/experts/host_per_layer_s"], 3.3e-3,
             of_chips(0.4, HOPPER, BLACKWELL), "s"),
    Constant("graphs of layers", ["/cuda_graphs/expert_layer"], 0.5, everywhere(0.4)),
    Constant("sinks", [DEVICE + "attention_sink_factor"], 2.0, everywhere(0.6)),
    # Accelerators of one kind. Over whole clusters their speeds cover 8 % from whisker to whisker
    # (Sinha et al. 2022, section V), which are 5.4 standard deviations apart; up to 22 % in some.
    # Stands for all else that grows with their number, too: a narrow prior keeps it near.
    Constant("device speeds", ["/variation/device_speed"], 0.02, everywhere(0.15), most=0.05),
    # Sources
    Constant("kernel time", [], 1.0,
             [Effect("tuned benchmarks of dense models", "source", TUNED, 0.06, models="dense"),
              *of_sources(SOURCES, 0.06),
              *of_releases("dgxc_benchmarking", 0.05, "24.11.1", "25.02", "25.04", "25.05"),
              *of_releases("alephalpha_layouts", 0.05, "fa1", "fa2", "rms"),
              *of_releases("nemo_framework", 0.05, "24.07"),
              *of_releases("mlperf_lora", 0.05, "v5.0", "v5.1"),
              *of_releases("mlperf_pretrain", 0.05, "v3.0", "v3.1"),
              Effect("dgxc_benchmarking, mixtures", "source", ("dgxc_benchmarking",), 0.08,
                     models="mixtures"),
              Effect("megatron_bridge, mixtures", "source", ("megatron_bridge",), 0.08,
                     models="mixtures"),
              Effect("megatron_bridge, mixtures until 26.02", "source", ("megatron_bridge",), 0.08,
                     releases=("25.09", "25.11", "26.02", "26.02.01"), models="mixtures"),
              Effect("megatron_bridge, mixtures from 26.06", "source", ("megatron_bridge",), 0.08,
                     releases=("26.06", "26.06.01", "26.08"), models="mixtures")],
             source_field="kernel_time"),
]
