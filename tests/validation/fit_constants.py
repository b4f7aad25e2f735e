"""What the fit may change: every free constant, its prior and where it stands in the profiles.

A constant is shared by all rows, or by those of one accelerator, architecture, kernel family or
release. Priors are lognormal: a median and a standard deviation of the logarithm. Narrow ones rest
on measurements of single kernels, which tests/sim/costs/shipped_profiles_test.cpp holds the
profiles against: what training steps alone would have of them is not what kernels do.
"""

ARCHITECTURE = {
    "v100_sxm": "volta and ampere", "a100_sxm_40gb": "volta and ampere",
    "a100_sxm_80gb": "volta and ampere", "h100_sxm": "hopper", "h200_sxm": "hopper",
    "b200_sxm": "blackwell", "b300_sxm": "blackwell", "gb200": "blackwell", "gb300": "blackwell",
}
# Software of before 2023: no host work moved off the critical path.
EARLY_FAMILIES = {"megatron-2021", "megatron-2022", "deepspeed", "aleph-alpha",
                  "aleph-alpha-unfused-norm", "aleph-alpha-flash-1"}


def of_key(value, key):
    return value.get(key, value.get("*")) if isinstance(value, dict) else value


class Constant:
    """`scope` says which rows share a value: "all", "profile", "architecture", "family", "era",
    "release" or "recipe". `pointers` are JSON pointers in a profile; {family} and {release} stand
    for names. `prior` and `least` are one number for all, or one for each key. (An H100 is not taken
    to be more than 20 % below its best measured product.)"""

    def __init__(self, name, scope, pointers, prior, sigma, least, most, unit="", fixed=()):
        self.name, self.scope, self.pointers = name, scope, pointers
        self.prior, self.sigma, self.least, self.most = prior, sigma, least, most
        self.unit, self.fixed = unit, set(fixed)

    def median(self, key):
        return of_key(self.prior, key)

    def lower_bound(self, key):
        return of_key(self.least, key)


DEVICE = "/device/"
FAMILY = "/kernel_families/{family}/"

CONSTANTS = [
    # Matrix products
    Constant("16-bit product efficiency", "profile",
             [DEVICE + "gemm_efficiency/bf16", DEVICE + "gemm_efficiency/fp16"],
             {"v100_sxm": 0.70, "a100_sxm_40gb": 0.80, "a100_sxm_80gb": 0.80, "h100_sxm": 0.74,
              "*": 0.72, "gb300": 0.74}, 0.05, {"h100_sxm": 0.68, "*": 0.3}, 0.95),
    Constant("8-bit product efficiency", "profile", [DEVICE + "gemm_efficiency/fp8"],
             {"h100_sxm": 0.62, "h200_sxm": 0.62, "*": 0.66, "gb300": 0.68}, 0.07, 0.25, 0.95),
    Constant("4-bit product efficiency", "profile", [DEVICE + "gemm_efficiency/fp4"],
             {"*": 0.55, "b300_sxm": 0.50, "gb300": 0.50}, 0.25, 0.15, 0.9),
    Constant("inner size", "architecture", [DEVICE + "gemm_inner_half"], 200.0, 0.2, 1, 900),
    Constant("quantisation", "all", [DEVICE + "gemm_quantisation"], 0.60, 0.04, 0.01, 1.0),
    Constant("product overhead", "all", [DEVICE + "gemm_overhead_s"], 2.5e-6, 0.08, 0.3e-6, 15e-6,
             "s"),
    # Attention
    Constant("attention efficiency", "profile", [DEVICE + "attention_efficiency"],
             {"v100_sxm": 0.30, "a100_sxm_40gb": 0.5, "a100_sxm_80gb": 0.5, "h100_sxm": 0.5,
              "h200_sxm": 0.34, "*": 0.42, "gb300": 0.45}, 0.15, 0.1, 0.78),
    # Software of 2023 ran the first FlashAttention or its Triton twin, which take about 1.7 times as
    # long as the second (Dao 2023, section 4.1).
    Constant("attention rate", "family", [FAMILY + "attention_rate"],
             {"*": 1.0, "aleph-alpha-flash-1": 0.6, "internevo": 0.6, "composer": 0.6}, 0.2, 0.25,
             1.25, fixed=["fused", "mlperf"]),
    Constant("attention backward", "all", [DEVICE + "attention_backward"], 0.8, 0.1, 0.5, 1.1),
    Constant("attention sequence", "all", [DEVICE + "attention_sequence_half"], 200.0, 0.5, 10,
             3000),
    Constant("attention head size", "architecture", [DEVICE + "attention_head_exponent"],
             {"volta and ampere": 0.3, "hopper": 0.3, "blackwell": 0.7}, 0.5, 0.01, 1.5),
    Constant("attention over contexts", "all", [DEVICE + "attention_context_factor"], 1.1, 0.15,
             0.8, 2.0),
    Constant("batched products", "all", [DEVICE + "batched_gemm_efficiency"], 0.45, 0.15, 0.1, 1.0),
    Constant("misaligned heads", "all", [DEVICE + "misaligned_head_factor"], 2.0, 0.5, 1.0, 6.0),
    Constant("scores forward", "all", [DEVICE + "unfused_forward_bytes_per_score"], 13.0, 0.25, 4,
             40, "B"),
    Constant("scores backward", "all", [DEVICE + "unfused_backward_bytes_per_score"], 18.0, 0.25,
             4, 60, "B"),
    # Memory
    Constant("memory efficiency", "architecture", [DEVICE + "memory_efficiency"], 0.80, 0.05, 0.5,
             0.95),
    # Kernels that are not fused move every intermediate result. An eager RMS norm in fp32 moves 40
    # bytes an element where one kernel moves 4, an eager SwiGLU 10 where one moves 6; with two norms
    # and two residuals that is 3.3 times the traffic of a layer of Llama 13B, and 1.5 times where
    # only the norm is fused.
    Constant("memory traffic", "family", [FAMILY + "memory_traffic"],
             {"*": 1.0, "torch-eager": 3.3, "aleph-alpha-unfused-norm": 3.3,
              "aleph-alpha-flash-1": 3.3, "aleph-alpha": 1.5, "internevo": 1.5, "composer": 1.5},
             0.25, 0.4, 5.0),
    Constant("loss traffic", "family", [FAMILY + "loss_traffic"], 1.0, 0.3, 0.3, 5.0),
    Constant("cast delayed", "all", [DEVICE + "cast_bytes_per_element"], 4.0, 0.4, 0.5, 40, "B"),
    Constant("cast current", "all", [DEVICE + "cast_bytes_by_recipe/fp8_current"], 6.0, 0.4, 0.5,
             40, "B"),
    Constant("cast mxfp8", "all", [DEVICE + "cast_bytes_by_recipe/mxfp8"], 6.0, 0.4, 0.5, 40, "B"),
    Constant("cast nvfp4", "all", [DEVICE + "cast_bytes_by_recipe/nvfp4"], 8.0, 0.4, 0.5, 40, "B"),
    Constant("cast rowwise", "all", [DEVICE + "cast_bytes_by_recipe/fp8_rowwise"], 10.0, 0.4, 0.5,
             40, "B"),
    Constant("optimizer", "all", [DEVICE + "optimizer_bytes_per_parameter"], 34.0, 0.1, 20, 60,
             "B"),
    # Host
    Constant("launch gap", "family", [FAMILY + "launch_gap_s"], 1.5e-6, 0.5, 0.1e-6, 20e-6, "s"),
    Constant("host of a layer", "era", [FAMILY + "host_per_layer_s"], 250e-6, 0.5, 20e-6, 3e-3,
             "s"),
    Constant("step overhead", "era", [FAMILY + "step_overhead_s"], 8e-3, 0.6, 0.5e-3, 80e-3, "s"),
    Constant("micro-batch overhead", "family", [FAMILY + "micro_batch_overhead_s"],
             {"*": 0.05e-3, "deepspeed": 0.5e-3}, 1.0, 0.01e-3, 60e-3, "s"),
    # Network
    Constant("scale-up efficiency", "architecture", ["/scale_up/bandwidth_efficiency"],
             {"volta and ampere": 0.70, "*": 0.75}, 0.035, 0.3, 0.95),
    # Software that all-reduces fp32 gradients, then gathers 16-bit parameters of a sharded
    # optimizer moves (8 + 2) / (4 + 2) = 1.7 times as much (Aleph-Alpha/scaling, allreduce.py).
    Constant("gradient traffic", "family", [FAMILY + "gradient_traffic"], 1.2, 0.6, 1.0, 4.0),
    # nccl-tests over two to ten nodes reach 0.88 to 0.98 of the NICs.
    Constant("scale-out efficiency", "architecture", ["/scale_out/bandwidth_efficiency"], 0.88,
             0.07, 0.4, 1.0),
    Constant("tensor overlap", "architecture", ["/overlap/tensor_parallel_overlapped"], 0.35, 0.4,
             0.02, 1.0),
    Constant("context floor", "all", ["/overlap/context_parallel_floor"], 0.15, 0.5, 0.01, 1.0),
    Constant("gradient floor", "all", ["/overlap/gradient_reduce_floor"], 0.12, 0.5, 0.01, 1.0),
    Constant("sharded interference", "all", ["/overlap/sharded_interference"], 0.12, 0.5, 0.01,
             0.6),
    Constant("device spread", "all", ["/variation/device_speed"], 0.008, 0.7, 0.001, 0.06),
    # Mixtures of experts
    Constant("grouped efficiency", "all", ["/experts/grouped_efficiency"], 0.85, 0.2, 0.2, 1.0),
    Constant("grouped rows", "all", ["/experts/grouped_half_rows"], 60.0, 0.6, 1, 1000),
    Constant("permutation", "all", ["/experts/permutation_bytes_per_element"], 8.0, 0.4, 1, 40,
             "B"),
    Constant("exchange inside", "all", ["/experts/exchange_scale_up_efficiency"], 0.5, 0.4, 0.05,
             0.95),
    Constant("exchange across", "all", ["/experts/exchange_scale_out_efficiency"], 0.6, 0.4, 0.05,
             1.0),
    Constant("exchange overhead", "all", ["/experts/exchange_overhead_s"], 20e-6, 0.5, 1e-6,
             200e-6, "s"),
    Constant("exchange seen", "all", ["/experts/exchange_seen"], 0.8, 0.3, 0.05, 1.0),
    Constant("exchange seen of overlapped", "all", ["/experts/exchange_seen_overlapped"], 0.3, 0.5,
             0.02, 1.0),
    Constant("expert gap", "all", ["/experts/layer_gap_s"], 60e-6, 0.7, 5e-6, 1e-3, "s"),
    Constant("expert host", "architecture", ["/experts/host_per_layer_s"], 1e-3, 0.8, 50e-6, 8e-3,
             "s"),
    Constant("graphs and gaps", "all", ["/cuda_graphs/launch_gap"], 0.5, 0.4, 0.05, 1.0),
    Constant("graphs of layers", "all", ["/cuda_graphs/expert_layer"], 0.5, 0.4, 0.05, 1.0),
    Constant("graphs of iterations", "all", ["/cuda_graphs/expert_full"], 0.2, 0.5, 0.02, 1.0),
    Constant("window", "all", [DEVICE + "attention_window_saving"], 0.5, 0.5, 0.02, 1.0),
    Constant("sinks", "all", [DEVICE + "attention_sink_factor"], 2.0, 0.6, 0.5, 12),
    # Releases
    Constant("release", "release", [FAMILY + "releases/{release}"], 1.0, 0.05, 0.6, 1.6),
    Constant("release with experts", "expert release", [FAMILY + "releases/{release}"], 1.0, 0.12,
             0.6, 1.6),
]
