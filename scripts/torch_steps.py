#!/usr/bin/env python3
"""Trains a few layers of well-known models with PyTorch on one GPU and writes what a step took, as
rows that `headway validate --rows FILE` predicts.

    scripts/torch_steps.py -o rows.json [--only WORD]... [--seconds N]

Layers are Llama's or GPT's, as torchtitan trains them on one GPU: weights in fp32, products in bf16
by autocast, fused attention of PyTorch, gradients clipped, AdamW fused; eager, or each layer and the
loss compiled. Models have their own widths, sequences and words, and as many layers as fit. A row
says the median of the steps, and beside it what the device's memory held at most. What comes next
is begun only while less than N seconds (300) have passed; rows are written after each job.

Needs PyTorch with CUDA and nothing of Headway. Exit codes: 0 done; 2 wrong option; 3 no PyTorch or
no GPU, or a job failed: the rest is in FILE.
"""

import argparse
import gc
import json
import statistics
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional
    from torch.utils.checkpoint import checkpoint
except ImportError as error:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        sys.exit(0)
    print(f"torch_steps.py: {error}; PyTorch with CUDA is needed", file=sys.stderr)
    sys.exit(3)

# name: layers, hidden, heads, heads of keys, size of a head, feed-forward, words
LLAMA3_8B = ("Llama 3 8B", 4, 4096, 32, 8, 128, 14336, 128256)
LLAMA2_7B = ("Llama 2 7B", 4, 4096, 32, 32, 128, 11008, 32000)
LLAMA3_70B = ("Llama 3 70B", 2, 8192, 64, 8, 128, 28672, 32000)
GPT2_XL = ("GPT-2 XL", 12, 1600, 25, 25, 64, 6400, 50304)
GPT3_6_7B = ("GPT-3 6.7B", 4, 4096, 32, 32, 128, 16384, 50304)
GPT2_MEDIUM = ("GPT-2 medium", 24, 1024, 16, 16, 64, 4096, 50304)

# as the device calls itself, and as rows do
DEVICES = [
    ("A100-SXM4-40", "A100-40"),
    ("A100-SXM4-80", "A100-80"),
    *((name, name) for name in ("H100", "H200", "GB200", "GB300", "B200", "B300")),
]

# model, sequence length, sequences at once, compiled, recomputed; what tells most comes first
JOBS = [
    (LLAMA3_8B, 8192, 1, True, False),
    (LLAMA3_8B, 8192, 1, False, False),
    (LLAMA2_7B, 4096, 2, False, False),
    (GPT3_6_7B, 2048, 4, False, False),
    (GPT2_MEDIUM, 1024, 1, False, False),
    (LLAMA2_7B, 4096, 2, True, False),
    (LLAMA2_7B, 4096, 1, False, False),
    (LLAMA2_7B, 4096, 2, False, True),
    (GPT2_XL, 1024, 8, False, False),
    (GPT3_6_7B, 2048, 4, True, False),
    (LLAMA3_70B, 4096, 1, True, False),
    (LLAMA3_70B, 4096, 1, False, False),
    (GPT2_MEDIUM, 1024, 16, False, False),
    (GPT2_MEDIUM, 1024, 16, True, False),
    (LLAMA3_8B, 2048, 4, False, False),
    (LLAMA3_8B, 2048, 4, True, False),
    (LLAMA3_8B, 16384, 1, True, True),
    (GPT2_XL, 1024, 8, True, False),
]


def rotated(x, cosine, sine):
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1).to(x)


class Layer(nn.Module):
    def __init__(self, model):
        super().__init__()
        name, _, hidden, heads, kv_heads, size, ffn, _ = model
        self.gated = name.startswith("Llama")
        self.heads, self.kv_heads, self.size = heads, kv_heads, size
        norm = nn.RMSNorm if self.gated else nn.LayerNorm
        self.attention_norm, self.ffn_norm = norm(hidden), norm(hidden)
        bias = not self.gated
        self.q = nn.Linear(hidden, heads * size, bias=bias)
        self.k = nn.Linear(hidden, kv_heads * size, bias=bias)
        self.v = nn.Linear(hidden, kv_heads * size, bias=bias)
        self.out = nn.Linear(heads * size, hidden, bias=bias)
        self.up = nn.Linear(hidden, ffn, bias=bias)
        self.gate = nn.Linear(hidden, ffn, bias=bias) if self.gated else None
        self.down = nn.Linear(ffn, hidden, bias=bias)

    def forward(self, x, cosine, sine):
        batch, length, _ = x.shape
        h = self.attention_norm(x)
        q, k, v = (
            weight(h).view(batch, length, heads, self.size).transpose(1, 2)
            for weight, heads in ((self.q, self.heads), (self.k, self.kv_heads), (self.v, self.kv_heads))
        )
        if self.gated:
            q, k = rotated(q, cosine, sine), rotated(k, cosine, sine)
        a = functional.scaled_dot_product_attention(
            q, k, v, is_causal=True, enable_gqa=self.heads != self.kv_heads
        )
        x = x + self.out(a.transpose(1, 2).reshape(batch, length, -1))
        h = self.ffn_norm(x)
        if self.gated:
            return x + self.down(functional.silu(self.gate(h)) * self.up(h))
        return x + self.down(functional.gelu(self.up(h)))


class Model(nn.Module):
    def __init__(self, model, length, compiled, recomputed):
        super().__init__()
        name, layers, hidden, _, _, size, _, words = model
        self.gated = name.startswith("Llama")
        self.recomputed = recomputed
        self.embedding = nn.Embedding(words, hidden)
        self.positions = None if self.gated else nn.Embedding(length, hidden)
        self.layers = nn.ModuleList(Layer(model) for _ in range(layers))
        self.norm = (nn.RMSNorm if self.gated else nn.LayerNorm)(hidden)
        self.head = nn.Linear(hidden, words, bias=False)
        angle = torch.outer(
            torch.arange(length).float(), 5e5 ** (-torch.arange(0, size, 2).float() / size)
        )
        self.register_buffer("cosine", angle.cos())
        self.register_buffer("sine", angle.sin())
        if compiled:
            for layer in self.layers:
                layer.compile(dynamic=False)

    def forward(self, words):
        x = self.embedding(words)
        if self.positions is not None:
            x = x + self.positions.weight
        for layer in self.layers:
            if self.recomputed:
                x = checkpoint(layer, x, self.cosine, self.sine, use_reentrant=False)
            else:
                x = layer(x, self.cosine, self.sine)
        return self.head(self.norm(x))


def loss_of(logits, targets):
    return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def device_state():
    """What the device does just now, where NVML's Python bindings are there."""
    try:
        return {"clock_mhz": torch.cuda.clock_rate(), "watts": torch.cuda.power_draw() / 1e3}
    except (ImportError, RuntimeError, AttributeError):
        return {}


def run(job):
    """What was measured, as a row has it."""
    model, length, sequences, compiled, recomputed = job
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.manual_seed(1)
    with torch.device("cuda"):
        network = Model(model, length, compiled, recomputed)
    loss_function = torch.compile(loss_of, dynamic=False) if compiled else loss_of
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-5, fused=True)
    words = torch.randint(model[-1], (sequences, length + 1), device="cuda")

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = loss_function(network(words[:, :-1]), words[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    for _ in range(4):
        first = step()
    torch.cuda.synchronize()
    times, state = [], {}
    began = time.monotonic()
    while len(times) < 8 or (len(times) < 40 and time.monotonic() - began < 2.0):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        last = step()
        end.record()
        if len(times) == 7:
            state = device_state()
        # As a trainer that logs its loss: the host waits for the device once a step.
        value = last.item()
        times.append(start.elapsed_time(end) / 1e3)
    if not value < first.item() + 1.0:
        raise RuntimeError(f"the loss went from {first.item()} to {value}")
    return {
        "iteration_time_s": statistics.median(times),
        "steps": len(times),
        "fastest_s": min(times),
        "slowest_s": max(times),
        "peak_allocated_bytes": torch.cuda.max_memory_allocated(),
        "peak_reserved_bytes": torch.cuda.max_memory_reserved(),
        **state,
    }


def row(job, measured):
    (name, layers, hidden, heads, kv_heads, size, ffn, words), length, sequences, compiled, recomputed = job
    device = torch.cuda.get_device_properties(0)
    recent = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 11)
    way = ("compile" if compiled else "eager") + (", recomputed" if recomputed else "")
    return {
        "id": f"torch-{name.lower().replace(' ', '-')}-{layers}x-{length}-{sequences}-{way.replace(', ', '-')}",
        "source": {"key": "here", "title": f"scripts/torch_steps.py, PyTorch {torch.__version__}, {device.name}"},
        "framework": "torchtitan",
        # What presets know of: from 2.11 on PyTorch attends by cuDNN where it can.
        "release": ("pytorch-2.11" if recent else "compile") + ("" if compiled else "-eager"),
        "gpu": next((ours for theirs, ours in DEVICES if theirs in device.name), device.name),
        "gpus": 1,
        "nvlink_domain": 8,
        "nic_GBps_per_gpu": 50,
        "model": {
            "name": f"{name}, {layers} layers", "kind": "dense", "layers": layers, "hidden": hidden,
            "heads": heads, "kv_heads": kv_heads, "head_dim": size, "ffn": ffn,
            "gated": name.startswith("Llama"), "vocab": words, "seq": length,
        },
        "train": {
            "task": "pretrain", "precision": "bf16", "tp": 1, "pp": 1, "dp": 1,
            "micro_batch": sequences, "global_batch": sequences,
            "fsdp": "none", "flash": True, "recompute": "full" if recomputed else "none",
            "recompute_modules": [],
        },
        "measured": measured,
    }


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("-o", "--output", required=True, metavar="FILE")
    options.add_argument("--only", action="append", default=[], metavar="WORD", help="jobs whose id has it")
    options.add_argument("--seconds", type=float, default=300.0, metavar="N", help="begin nothing after [300]")
    options = options.parse_args()
    if not torch.cuda.is_available():
        print("torch_steps.py: PyTorch sees no GPU", file=sys.stderr)
        return 3
    torch.set_float32_matmul_precision("high")
    began, rows, failed = time.monotonic(), [], 0
    for job in JOBS:
        identity = row(job, {})["id"]
        if options.only and not any(word in identity for word in options.only):
            continue
        if time.monotonic() - began > options.seconds:
            print(f"torch_steps.py: time is up; {identity} and what follows were not run", file=sys.stderr)
            break
        start = time.monotonic()
        try:
            rows.append(row(job, run(job)))
            measured = rows[-1]["measured"]
            print(
                f"{identity}: {measured['iteration_time_s'] * 1e3:.2f} ms "
                f"({measured['fastest_s'] * 1e3:.2f} to {measured['slowest_s'] * 1e3:.2f}), "
                f"{measured['peak_allocated_bytes'] / 2**30:.2f} GiB, in {time.monotonic() - start:.0f} s",
                file=sys.stderr,
            )
        except Exception as error:  # noqa: BLE001, whatever it is, the other jobs are worth having
            failed += 1
            print(f"torch_steps.py: {identity}: {str(error).splitlines()[0]}", file=sys.stderr)
        torch._dynamo.reset()
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump({"schema": "headway/published-steps/1", "rows": rows}, file, indent=1)
            file.write("\n")
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
