#!/usr/bin/env python3
"""Trains models of many kinds with PyTorch on one GPU and writes what a step took, as rows that
`headway validate --sync --rows FILE` predicts.

    scripts/torch_models.py -o rows.json [--only WORD]... [--seconds N]

Image networks are torchvision's, encoders Hugging Face transformers'; a diffusion transformer, a
mixture of experts, low-rank adapters, packed sequences, 8-bit products, Muon and the words that a
model generates one after another are written here, as their authors have them. Inputs are on the
device already. A row says the median of the steps. What comes next is begun only while less than N
seconds (200) have passed; rows are written after each job.

Needs PyTorch with CUDA, for some jobs torchvision and transformers, and nothing of Headway. Exit
codes: 0 done; 2 wrong option; 3 no PyTorch or no GPU, or a job failed: the rest is in FILE.
"""

import inspect
import sys

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as error:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        sys.exit(0)
    print(f"torch_models.py: {error}; PyTorch with CUDA is needed", file=sys.stderr)
    sys.exit(3)

from torch_measure import captured_step, main, training_step
from torch_steps import loss_of, rotated

ADAM = {"optimizer": "adam"}
MOMENTUM = {"optimizer": "momentum"}


def adam(parameters):
    return [torch.optim.AdamW(parameters, lr=1e-5, fused=True)]


def momentum(parameters):
    return [torch.optim.SGD(parameters, lr=1e-4, momentum=0.9, fused=True)]


# What is trained is built by a function that returns the network, what gives its loss, and optimizers.


def torchvision_network(name, batch, optimizers):
    def build():
        from torchvision import models

        network = getattr(models, name)(weights=None).to(memory_format=torch.channels_last)
        images = torch.randn(batch, 3, 224, 224, device="cuda").contiguous(memory_format=torch.channels_last)
        classes = torch.randint(1000, (batch,), device="cuda")
        return network, lambda: functional.cross_entropy(network(images), classes), optimizers(network.parameters())

    return build


def inception(batch):
    def build():
        from torchvision import models

        network = models.inception_v3(weights=None, aux_logits=False, init_weights=False)
        network = network.to(memory_format=torch.channels_last)
        images = torch.randn(batch, 3, 299, 299, device="cuda").contiguous(memory_format=torch.channels_last)
        classes = torch.randint(1000, (batch,), device="cuda")
        return network, lambda: functional.cross_entropy(network(images), classes), momentum(network.parameters())

    return build


class WordModel(nn.Module):
    """PyTorch's example word_language_model."""

    def __init__(self, words, hidden, layers):
        super().__init__()
        self.embedding = nn.Embedding(words, hidden)
        self.recurrent = nn.LSTM(hidden, hidden, layers, dropout=0.2)
        self.head = nn.Linear(hidden, words)
        self.drop = nn.Dropout(0.2)

    def forward(self, words):
        return self.head(self.drop(self.recurrent(self.drop(self.embedding(words)))[0]))


def word_model(batch, hidden, length=35, words=33278):
    def build():
        network = WordModel(words, hidden, 2)
        text = torch.randint(words, (length + 1, batch), device="cuda")
        return (
            network,
            lambda: functional.cross_entropy(network(text[:-1]).flatten(0, 1).float(), text[1:].flatten()),
            [torch.optim.SGD(network.parameters(), lr=1e-3, fused=True)],
        )

    return build


class Speech(nn.Module):
    """Amodei et al. 2015 (arXiv:1512.02595): two convolutions, five recurrent layers both ways whose
    directions are added up, batch norms between them, letters."""

    def __init__(self, hidden=800, layers=5, letters=29):
        super().__init__()
        self.sound = nn.Sequential(
            nn.Conv2d(1, 32, (41, 11), (2, 2), (20, 5)), nn.BatchNorm2d(32), nn.Hardtanh(0, 20),
            nn.Conv2d(32, 32, (21, 11), (2, 1), (10, 5)), nn.BatchNorm2d(32), nn.Hardtanh(0, 20),
        )
        widths = [32 * 41] + [hidden] * (layers - 1)
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[1:] + [hidden])
        self.layers = nn.ModuleList(nn.GRU(width, hidden, bidirectional=True) for width in widths)
        self.head = nn.Linear(hidden, letters, bias=False)

    def forward(self, x):
        x = self.sound(x).flatten(1, 2).permute(2, 0, 1)
        for layer, norm in zip(self.layers, self.norms):
            forward, backward = layer(x)[0].chunk(2, dim=-1)
            x = norm((forward + backward).transpose(1, 2)).transpose(1, 2)
        return self.head(x)


def speech(batch, moments=320, letters=60):
    def build():
        network = Speech()
        sound = torch.randn(batch, 1, 161, moments, device="cuda")
        text = torch.randint(1, 29, (batch, letters), device="cuda")
        moments_out = torch.full((batch,), moments // 2, dtype=torch.long, device="cuda")
        length = torch.full((batch,), letters, dtype=torch.long, device="cuda")
        return (
            network,
            lambda: functional.ctc_loss(
                network(sound).float().log_softmax(dim=-1), text, moments_out, length, zero_infinity=True
            ),
            momentum(network.parameters()),
        )

    return build


def bert(batch, length=512):
    def build():
        from transformers import BertConfig, BertForPreTraining

        network = BertForPreTraining(
            BertConfig(
                hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
                hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            )
        )
        words = torch.randint(30522, (batch, length), device="cuda")
        kind = torch.zeros(batch, dtype=torch.long, device="cuda")
        return (
            network,
            lambda: network(input_ids=words, labels=words, next_sentence_label=kind).loss,
            adam(network.parameters()),
        )

    return build


def t5(batch, length=512, target=114):
    def build():
        from transformers import T5Config, T5ForConditionalGeneration

        network = T5ForConditionalGeneration(
            T5Config(
                d_model=1024, d_kv=64, d_ff=4096, num_layers=24, num_heads=16, vocab_size=32128,
                dropout_rate=0.0, decoder_start_token_id=0,
            )
        )
        words = torch.randint(32000, (batch, length), device="cuda")
        target_words = torch.randint(32000, (batch, target), device="cuda")
        return network, lambda: network(input_ids=words, labels=target_words).loss, adam(network.parameters())

    return build


def whisper(batch, hidden, layers, heads, mel_bins, words=448):
    def build():
        from transformers import WhisperConfig, WhisperForConditionalGeneration

        vocabulary = 51866 if mel_bins == 128 else 51865
        network = WhisperForConditionalGeneration(
            WhisperConfig(
                d_model=hidden, encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=heads,
                decoder_attention_heads=heads, encoder_ffn_dim=4 * hidden, decoder_ffn_dim=4 * hidden,
                vocab_size=vocabulary, num_mel_bins=mel_bins,
            )
        )
        sound = torch.randn(batch, mel_bins, 3000, device="cuda")
        text = torch.randint(50000, (batch, words), device="cuda")
        return (
            network,
            lambda: network(input_features=sound, labels=text).loss,
            adam(p for p in network.parameters() if p.requires_grad),
        )

    return build


class DiffusionLayer(nn.Module):
    """Peebles and Xie 2022 (arXiv:2212.09748), 3.2, adaLN-Zero."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(hidden, elementwise_affine=False, eps=1e-6) for _ in range(2))
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
        self.modulation = nn.Linear(hidden, 6 * hidden)

    def forward(self, x, condition):
        shift, scale, gate, shift_mlp, scale_mlp, gate_mlp = (
            self.modulation(functional.silu(condition)).unsqueeze(1).chunk(6, dim=-1)
        )
        batch, length, hidden = x.shape
        h = self.norms[0](x) * (1 + scale) + shift
        q, k, v = self.qkv(h).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, hidden)
        x = x + gate * self.out(a)
        h = self.norms[1](x) * (1 + scale_mlp) + shift_mlp
        return x + gate_mlp * self.down(functional.gelu(self.up(h), approximate="tanh"))


class DiffusionTransformer(nn.Module):
    def __init__(self, layers, hidden, heads, side=32, patch=2, channels=4, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(channels, hidden, patch, patch)
        self.register_buffer("positions", torch.randn(1, (side // patch) ** 2, hidden))
        self.times = nn.Sequential(nn.Linear(256, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.classes = nn.Embedding(classes + 1, hidden)
        self.layers = nn.ModuleList(DiffusionLayer(hidden, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden, elementwise_affine=False, eps=1e-6)
        self.modulation = nn.Linear(hidden, 2 * hidden)
        self.head = nn.Linear(hidden, patch * patch * 2 * channels)

    def forward(self, images, times, classes):
        x = self.patches(images).flatten(2).transpose(1, 2) + self.positions
        condition = self.times(times) + self.classes(classes)
        for layer in self.layers:
            x = layer(x, condition)
        shift, scale = self.modulation(functional.silu(condition)).unsqueeze(1).chunk(2, dim=-1)
        return self.head(self.norm(x) * (1 + scale) + shift)


def dit(batch, compiled):
    def build():
        network = DiffusionTransformer(28, 1152, 16)
        if compiled:
            for layer in network.layers:
                layer.compile(dynamic=False)
        images = torch.randn(batch, 4, 32, 32, device="cuda")
        times = torch.randn(batch, 256, device="cuda")
        classes = torch.randint(1000, (batch,), device="cuda")
        noise = torch.randn(batch, 256, 32, device="cuda")
        return (
            network,
            lambda: functional.mse_loss(network(images, times, classes).float(), noise),
            adam(network.parameters()),
        )

    return build


class Experts(nn.Module):
    """A mixture's experts on one device: rows sorted by expert, grouped products, rows added up."""

    def __init__(self, hidden, experts, chosen, inner):
        super().__init__()
        self.chosen = chosen
        self.router = nn.Linear(hidden, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, hidden, 2 * inner) * 0.02)
        self.down = nn.Parameter(torch.randn(experts, inner, hidden) * 0.02)

    def forward(self, x):
        shape = x.shape
        x = x.flatten(0, 1)
        probability = self.router(x).float().softmax(dim=-1)
        weight, expert = probability.topk(self.chosen, dim=-1)
        weight = weight / weight.sum(dim=-1, keepdim=True)
        order = expert.flatten().argsort(stable=True)
        ends = torch.bincount(expert.flatten(), minlength=self.router.out_features).cumsum(0).to(torch.int32)
        rows = x[order // self.chosen].to(torch.bfloat16)
        gate, up = torch._grouped_mm(rows, self.up.to(torch.bfloat16), offs=ends).chunk(2, dim=-1)
        h = torch._grouped_mm(functional.silu(gate) * up, self.down.to(torch.bfloat16), offs=ends)
        h = h * weight.flatten()[order].unsqueeze(-1).to(h)
        return torch.zeros_like(x, dtype=h.dtype).index_add(0, order // self.chosen, h).view(shape)


class Adapted(nn.Linear):
    """A product whose weight stays as it is, beside two of low rank: Hu et al. 2021
    (arXiv:2106.09685), 4.1."""

    def __init__(self, inputs, outputs, rank):
        super().__init__(inputs, outputs, bias=False, dtype=torch.bfloat16)
        self.weight.requires_grad = False
        self.first = nn.Linear(inputs, rank, bias=False)
        self.second = nn.Linear(rank, outputs, bias=False)

    def forward(self, x):
        return super().forward(x) + self.second(self.first(x))


def eight_bits(x):
    scale = 448.0 / x.abs().amax().float().clamp(min=1e-12)
    return (x.float() * scale).to(torch.float8_e4m3fn), scale.reciprocal()


class Eight(torch.autograd.Function):
    """A product and those of its gradients in 8 bits, scaled by the tensor."""

    @staticmethod
    def forward(context, x, weight):
        context.save_for_backward(x, weight)
        a, scale_a = eight_bits(x)
        b, scale_b = eight_bits(weight)
        return torch._scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=torch.bfloat16, use_fast_accum=True)

    @staticmethod
    def backward(context, gradient):
        x, weight = context.saved_tensors
        g, scale_g = eight_bits(gradient)
        a, scale_a = eight_bits(x)
        b, scale_b = eight_bits(weight)
        # Tensor cores of 8 bits want rows of the first and columns of the second in one piece.
        to_input = torch._scaled_mm(g, b.t().contiguous().t(), scale_g, scale_b, out_dtype=torch.bfloat16)
        to_weight = torch._scaled_mm(
            g.t().contiguous(), a.t().contiguous().t(), scale_g, scale_a, out_dtype=torch.bfloat16
        )
        return to_input, to_weight


class EightLinear(nn.Linear):
    def forward(self, x):
        y = Eight.apply(x.flatten(0, -2).to(torch.bfloat16), self.weight.to(torch.bfloat16))
        return y.view(*x.shape[:-1], -1)


class DecoderLayer(nn.Module):
    def __init__(self, model, linear, mlp=None, documents=0):
        super().__init__()
        self.heads, self.kv_heads, self.size = model["attention_heads"], model["kv_heads"], model["head_size"]
        self.documents = documents
        hidden, ffn = model["hidden"], model["ffn_hidden"]
        self.attention_norm, self.ffn_norm = nn.RMSNorm(hidden), nn.RMSNorm(hidden)
        self.qkv = linear(hidden, (self.heads + 2 * self.kv_heads) * self.size)
        self.out = linear(self.heads * self.size, hidden)
        self.mlp = mlp
        if mlp is None:
            self.up, self.down = linear(hidden, 2 * ffn), linear(ffn, hidden)

    def attention(self, q, k, v):
        if not self.documents:
            a = functional.scaled_dot_product_attention(
                *(t.transpose(1, 2) for t in (q, k, v)), is_causal=True, enable_gqa=self.heads != self.kv_heads
            )
            return a.transpose(1, 2)
        from torch.nn.attention.varlen import varlen_attn

        batch, length = q.shape[:2]
        one = length // self.documents
        starts = torch.arange(0, batch * length + 1, one, device=q.device, dtype=torch.int32)
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=2) for t in (k, v))
        # What is before, and nothing after; until PyTorch 2.10 that was a flag.
        has_flag = "is_causal" in inspect.signature(varlen_attn).parameters
        causal = {"is_causal": True} if has_flag else {"window_size": (-1, 0)}
        a = varlen_attn(*(t.flatten(0, 1) for t in (q, k, v)), starts, starts, one, one, **causal)
        return a.view(q.shape)

    def forward(self, x, cosine, sine):
        batch, length, _ = x.shape
        q, k, v = (
            self.qkv(self.attention_norm(x))
            .view(batch, length, -1, self.size)
            .split((self.heads, self.kv_heads, self.kv_heads), dim=2)
        )
        q, k = rotated(q, cosine, sine), rotated(k, cosine, sine)
        x = x + self.out(self.attention(q, k, v).reshape(batch, length, -1))
        h = self.ffn_norm(x)
        if self.mlp is not None:
            return x + self.mlp(h)
        gate, up = self.up(h).chunk(2, dim=-1)
        return x + self.down(functional.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self, model, length, layer, compiled, frozen=False):
        super().__init__()
        hidden, words, size = model["hidden"], model["vocabulary"], model["head_size"]
        kind = torch.bfloat16 if frozen else torch.float32
        self.embedding = nn.Embedding(words, hidden, dtype=kind)
        self.layers = nn.ModuleList(layer() for _ in range(model["layers"]))
        self.norm = nn.RMSNorm(hidden)
        self.head = nn.Linear(hidden, words, bias=False, dtype=kind)
        if frozen:
            for part in (self.embedding, self.norm, self.head):
                part.requires_grad_(False)
            for each in self.layers:
                each.attention_norm.requires_grad_(False)
                each.ffn_norm.requires_grad_(False)
        angle = torch.outer(torch.arange(length).float(), 5e5 ** (-torch.arange(0, size, 2).float() / size))
        self.register_buffer("cosine", angle.cos().unsqueeze(1))
        self.register_buffer("sine", angle.sin().unsqueeze(1))
        if compiled:
            for each in self.layers:
                each.compile(dynamic=False)

    def forward(self, words):
        x = self.embedding(words)
        for layer in self.layers:
            x = layer(x, self.cosine, self.sine)
        return self.head(self.norm(x))


def plain(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


def decoder(model, length, sequences, compiled, linear=plain, experts=None, documents=0, optimizers=adam, frozen=False):
    def build():
        def layer():
            mlp = Experts(model["hidden"], *experts) if experts else None
            return DecoderLayer(model, linear, mlp, documents)

        network = Decoder(model, length, layer, compiled, frozen)
        loss = torch.compile(loss_of, dynamic=False) if compiled else loss_of
        words = torch.randint(model["vocabulary"], (sequences, length + 1), device="cuda")
        trained = [p for p in network.parameters() if p.requires_grad]
        return network, lambda: loss(network(words[:, :-1]), words[:, 1:]), optimizers(trained)

    return build


def capturable(parameters):
    return [torch.optim.AdamW(parameters, lr=1e-5, fused=True, capturable=True)]


def layers_captured(build, model, length, sequences):
    """The same with forward and backward passes of each layer as graphs of their own."""

    def with_graphs():
        network, loss, optimizers = build()
        x = torch.randn(sequences, length, model["hidden"], device="cuda", requires_grad=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            layers = torch.cuda.make_graphed_callables(
                tuple(network.layers), ((x, network.cosine, network.sine),) * len(network.layers)
            )
        network.layers = nn.ModuleList(layers)
        return network, loss, optimizers

    return with_graphs


def muon(parameters):
    matrices = [p for p in parameters if p.ndim == 2 and max(p.shape) < 100000]
    rest = [p for p in parameters if p.ndim != 2 or max(p.shape) >= 100000]
    return [torch.optim.Muon(matrices, lr=1e-4), *adam(rest)]


LLAMA3_8B = {
    "name": "Llama 3 8B, 4 layers", "layers": 4, "hidden": 4096, "attention_heads": 32, "kv_heads": 8,
    "head_size": 128, "ffn_hidden": 14336, "mlp": "gated", "vocabulary": 128256, "tied_embeddings": False,
    "normalization": "rms_norm", "position_encoding": "rotary", "qkv_bias": False, "projection_bias": False,
    "mlp_bias": False, "sequence_length": 8192,
}
LLAMA3_8B_32 = {**LLAMA3_8B, "name": "Llama 3 8B", "layers": 32}
LLAMA3_8B_8 = {**LLAMA3_8B, "name": "Llama 3 8B, 8 layers", "layers": 8}
QWEN3_30B = {
    **LLAMA3_8B, "name": "Qwen3 30B-A3B, 2 layers", "layers": 2, "hidden": 2048, "kv_heads": 4, "ffn_hidden": 6144,
    "vocabulary": 151936, "sequence_length": 4096,
    "mixture_of_experts": {"experts": 128, "experts_per_token": 8, "expert_hidden": 768},
}
MIXTRAL = {
    **LLAMA3_8B, "name": "Mixtral 8x7B, 1 layer", "layers": 1, "vocabulary": 32000, "sequence_length": 4096,
    "mixture_of_experts": {"experts": 8, "experts_per_token": 2, "expert_hidden": 14336},
}
LSTM = {
    "family": "lstm", "name": "LSTM language model", "layers": 2, "hidden": 200, "embedding_width": 200,
    "vocabulary": 33278, "sequence_length": 35,
}
BERT = {
    "family": "bert", "name": "BERT-large, all words predicted", "layers": 24, "hidden": 1024, "attention_heads": 16,
    "vocabulary": 30522, "sequence_length": 512, "dropout": False,
}
SMALL = {
    **LLAMA3_8B, "name": "decoder of 0.3 billion", "layers": 24, "hidden": 1024, "attention_heads": 16, "kv_heads": 16,
    "head_size": 64, "ffn_hidden": 2816, "vocabulary": 32000, "sequence_length": 1024,
}
LORA = {"task": "lora", "lora_rank": 16, "lora_targets": ["qkv", "projection", "fc1", "fc2"], "packed_length": 8192}


def adapted(inputs, outputs):
    return Adapted(inputs, outputs, 16)


def of_eight_bits(inputs, outputs):
    return EightLinear(inputs, outputs, bias=False)


def trained(name, build, batch, model, preset="pytorch-ddp", step=training_step, **strategy):
    job = {"model": model, "strategy": {"preset": preset, "micro_batch": batch, "global_batch": batch, **strategy}}
    return name, lambda: step(build), job


# What tells most comes first.
JOBS = [
    trained("whisper-small-16", whisper(16, 768, 12, 12, 80), 16, "whisper_small", **ADAM),
    trained("dit-xl-2-64", dit(64, False), 64, "dit_xl_2", **ADAM),
    trained("resnet-50-256", torchvision_network("resnet50", 256, momentum), 256, "resnet_50", **MOMENTUM),
    trained("vit-l-16-128", torchvision_network("vit_l_16", 128, adam), 128, "vit_l_16", **ADAM),
    trained("bert-large-32", bert(32), 32, BERT, **ADAM),
    trained("t5-large-32", t5(32), 32, "t5_large", "transformers", **ADAM),
    trained("lora-8b-8192-eager", decoder(LLAMA3_8B_8, 8192, 1, False, adapted, frozen=True), 1, LLAMA3_8B_8,
            "torchtitan-eager", **LORA),
    trained("lora-8b-8192-compiled", decoder(LLAMA3_8B_8, 8192, 1, True, adapted, frozen=True), 1, LLAMA3_8B_8,
            "torchtitan", **LORA),
    trained("qwen3-30b-4096-2-eager", decoder(QWEN3_30B, 4096, 2, False, experts=(128, 8, 768)), 2, QWEN3_30B,
            "torchtitan-eager"),
    trained("mixtral-4096-4-eager", decoder(MIXTRAL, 4096, 4, False, experts=(8, 2, 14336)), 4, MIXTRAL,
            "torchtitan-eager"),
    trained("fp8-8b-8192-compiled", decoder(LLAMA3_8B, 8192, 2, True, of_eight_bits), 2, LLAMA3_8B,
            "torchtitan", precision="fp8_current"),
    trained("muon-8b-8192-compiled", decoder(LLAMA3_8B, 8192, 1, True, optimizers=muon), 1, LLAMA3_8B, "torchtitan",
            optimizer="muon"),
    trained("mixtral-4096-4-compiled", decoder(MIXTRAL, 4096, 4, True, experts=(8, 2, 14336)), 4, MIXTRAL,
            "torchtitan"),
    trained("packed-8b-8192-eager", decoder(LLAMA3_8B, 8192, 1, False, documents=8), 1, LLAMA3_8B,
            "torchtitan-eager", task="sft", packed_length=1024, attention_kernel="flash-2"),
    trained("whisper-large-v3-8", whisper(8, 1280, 32, 20, 128), 8, "whisper_large_v3", **ADAM),
    trained("dit-xl-2-64-compiled", dit(64, True), 64, "dit_xl_2", "torchtitan", **ADAM),
    trained("vgg-16-128", torchvision_network("vgg16", 128, momentum), 128, "vgg_16", **MOMENTUM),
    trained("resnet-152-128", torchvision_network("resnet152", 128, momentum), 128, "resnet_152", **MOMENTUM),
    trained("vit-b-16-256", torchvision_network("vit_b_16", 256, adam), 256, "vit_b_16", **ADAM),
    trained("small-1024-1-eager", decoder(SMALL, 1024, 1, False), 1, SMALL, "torchtitan-eager"),
    trained("small-1024-1-eager-captured", decoder(SMALL, 1024, 1, False, optimizers=capturable), 1, SMALL,
            "torchtitan-eager", captured_step, cuda_graph="full"),
    trained("small-1024-1-eager-layers-captured", layers_captured(decoder(SMALL, 1024, 1, False), SMALL, 1024, 1), 1,
            SMALL, "torchtitan-eager", cuda_graph="layer"),
    trained("alexnet-512", torchvision_network("alexnet", 512, momentum), 512, "alexnet", **MOMENTUM),
    trained("inception-v3-128", inception(128), 128, "inception_v3", **MOMENTUM),
    trained("deepspeech2-32", speech(32), 32, "deepspeech2", **MOMENTUM),
    trained("lstm-200-20", word_model(20, 200), 20, LSTM, optimizer="sgd"),
    trained("lstm-1500-64", word_model(64, 1500), 64, {**LSTM, "hidden": 1500, "embedding_width": 1500},
            optimizer="sgd"),
]


class Generation:
    """A decoder that writes the next word of `sequences` texts of `length` words, as one graph."""

    def __init__(self, model, sequences, length, compiled):
        with torch.device("cuda"):
            network = Decoder(model, length, lambda: DecoderLayer(model, plain), False)
            self.network = network.to(torch.bfloat16).requires_grad_(False)
            self.words = torch.randint(model["vocabulary"], (sequences, 1))
            shape = (model["layers"], 2, sequences, model["kv_heads"], length, model["head_size"])
            self.cache = torch.randn(shape, dtype=torch.bfloat16)
        self.behind = torch.compile(self.behind_layer, dynamic=False) if compiled else self.behind_layer

    @staticmethod
    def behind_layer(layer, x, cache, cosine, sine):
        sequences = x.shape[0]
        heads = (layer.heads, layer.kv_heads, layer.kv_heads)
        q, k, v = layer.qkv(layer.attention_norm(x)).view(sequences, 1, -1, layer.size).split(heads, dim=2)
        q, k = rotated(q, cosine, sine), rotated(k, cosine, sine)
        cache[0, :, :, -1], cache[1, :, :, -1] = k[:, 0], v[:, 0]
        a = functional.scaled_dot_product_attention(q.transpose(1, 2), cache[0], cache[1], enable_gqa=True)
        x = x + layer.out(a.transpose(1, 2).reshape(sequences, 1, -1))
        gate, up = layer.up(layer.ffn_norm(x)).chunk(2, dim=-1)
        return x + layer.down(functional.silu(gate) * up)

    def write_word(self):
        network = self.network
        x = network.embedding(self.words)
        for layer, cache in zip(network.layers, self.cache):
            x = self.behind(layer, x, cache, network.cosine[-1:], network.sine[-1:])
        self.words.copy_(network.head(network.norm(x)).argmax(dim=-1))

    @torch.no_grad()
    def step(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                self.write_word()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.write_word()
        return graph.replay


def generated(sequences, length, compiled=False):
    name = f"generation-8b-{sequences}-{length}" + ("-compiled" if compiled else "")
    job = {
        "model": LLAMA3_8B_32,
        "strategy": {"preset": "torchtitan", "micro_batch": 1, "global_batch": 1, "sequence_length": length},
        "post_training": {
            "rollouts": sequences, "prompt_tokens": length, "mean_response": 2, "longest_response": 2,
            "generation": {"engine_accelerators": 1},
        },
    }
    return name, lambda: Generation(LLAMA3_8B_32, sequences, length, compiled).step(), job


JOBS += [generated(*sizes) for sizes in ((1, 2048), (16, 2048), (64, 2048), (256, 1024), (16, 16384))]
# With more sequences the compiler takes an attention that reads the cache many times over.
JOBS.append(generated(1, 2048, compiled=True))


if __name__ == "__main__":
    sys.exit(main("torch_models.py", __doc__, JOBS))
