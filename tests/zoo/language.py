"""Networks for text, and for text with images and sound, of transformers, small and with random weights."""

import torch
import transformers

from entry import Entry, Unwrapped, seeded

# What makes a configuration small; a model ignores what it does not know.
SMALL = dict(
    hidden_size=64,
    d_model=64,
    n_embd=64,
    dim=64,
    embedding_size=64,
    num_hidden_layers=2,
    n_layer=2,
    n_layers=2,
    num_layers=2,
    encoder_layers=2,
    decoder_layers=2,
    num_attention_heads=4,
    n_head=4,
    n_heads=4,
    num_heads=4,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    intermediate_size=128,
    encoder_ffn_dim=128,
    decoder_ffn_dim=128,
    ffn_dim=128,
    d_ff=128,
    d_inner=128,
    hidden_dim=128,
    d_kv=16,
    d_head=16,
    vocab_size=500,
    max_position_embeddings=128,
    n_positions=128,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    decoder_start_token_id=1,
    max_seq_len=128,
)

ENCODERS = {
    "albert": {},
    "bert": {},
    "bert-generation": {},
    "big_bird": dict(attention_type="original_full"),
    "camembert": {},
    "canine": dict(num_hash_buckets=512),
    "convbert": {},
    "data2vec-text": {},
    "deberta": {},
    "deberta-v2": dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=16),
    "distilbert": {},
    "electra": {},
    "ernie": {},
    "esm": dict(mask_token_id=3, position_embedding_type="rotary"),
    "eurobert": {},
    "flaubert": {},
    "fnet": {},
    "funnel": dict(block_sizes=[1, 1], max_position_embeddings=128),
    "ibert": {},
    "layoutlm": {},
    "lilt": {},
    "longformer": dict(attention_window=16),
    "luke": dict(entity_vocab_size=50),
    "markuplm": {},
    "megatron-bert": {},
    "mobilebert": dict(intra_bottleneck_size=32, true_hidden_size=32),
    "modernbert": dict(global_attn_every_n_layers=2),
    "mpnet": {},
    "mra": {},
    "nystromformer": dict(segment_means_seq_len=32, num_landmarks=8),
    "rembert": dict(input_embedding_size=32, output_embedding_size=64),
    "roberta": {},
    "roberta-prelayernorm": {},
    "roc_bert": {},
    "roformer": dict(embedding_size=64),
    "splinter": {},
    "squeezebert": {},
    "xlm": dict(emb_dim=64),
    "xlm-roberta": {},
    "xlnet": {},
    "xmod": {},
    "yoso": {},
}
DECODERS = {
    "apertus": {},
    "arcee": {},
    "biogpt": {},
    "bitnet": {},
    "bloom": {},
    "codegen": dict(rotary_dim=8),
    "cohere": {},
    "cohere2": {},
    "ctrl": dict(dff=128),
    "diffllama": {},
    "falcon": {},
    "gemma": {},
    "gemma2": {},
    "gemma3_text": {},
    "glm": {},
    "glm4": {},
    "gpt2": {},
    "gpt_bigcode": {},
    "gpt_neo": dict(attention_types=[[["global", "local"], 1]]),
    "gpt_neox": {},
    "gptj": dict(rotary_dim=8),
    "granite": {},
    "helium": {},
    "imagegpt": {},
    "llama": {},
    "mamba": dict(state_size=8),
    "mamba2": dict(num_heads=8, head_dim=16, n_groups=1, state_size=16, expand=2),
    "ministral": {},
    "mistral": {},
    "mixtral": dict(num_local_experts=4),
    "mpt": {},
    "nanochat": {},
    "nemotron": {},
    "olmo": {},
    "olmo2": {},
    "olmoe": dict(num_experts=4),
    "openai-gpt": {},
    "opt": dict(word_embed_proj_dim=64),
    "persimmon": {},
    "phi": {},
    "phi3": {},
    "qwen2": {},
    "qwen2_moe": dict(num_experts=4),
    "qwen3": {},
    "qwen3_moe": dict(num_experts=4, moe_intermediate_size=64),
    "recurrent_gemma": dict(lru_width=64, attention_window_size=32),
    "rwkv": dict(attention_hidden_size=64),
    "smollm3": {},
    "stablelm": {},
    "starcoder2": {},
    "xglm": dict(attention_heads=4),
}
PAIRS = {
    "bart": {},
    "blenderbot": {},
    "blenderbot-small": {},
    "bigbird_pegasus": dict(attention_type="original_full"),
    "fsmt": dict(src_vocab_size=500, tgt_vocab_size=500),
    "led": dict(attention_window=[16, 16]),
    "longt5": dict(local_radius=8),
    "m2m_100": {},
    "marian": {},
    "mbart": {},
    "mt5": {},
    "mvp": {},
    "pegasus": {},
    "plbart": {},
    "prophetnet": dict(
        num_encoder_attention_heads=4, num_decoder_attention_heads=4, num_encoder_layers=2, num_decoder_layers=2, encoder_ffn_dim=128
    ),
    "switch_transformers": dict(num_experts=4),
    "t5": {},
    "umt5": {},
}
IMAGES = {
    "beit": {},
    "bit": dict(embedding_size=32, hidden_sizes=[32, 64], depths=[1, 1]),
    "convnext": dict(hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 2, 1]),
    "convnextv2": dict(hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 2, 1]),
    "cvt": dict(embed_dim=[16, 32, 64], num_heads=[1, 2, 4], depth=[1, 1, 2]),
    "deit": {},
    "dinov2": {},
    "dinov2_with_registers": {},
    "dinov3_vit": {},
    "efficientnet": dict(hidden_dim=1280),
    "focalnet": dict(embed_dim=16, depths=[1, 1, 2, 1]),
    "hgnet_v2": {},
    "hiera": dict(embed_dim=24, depths=[1, 1, 2, 1]),
    "ijepa": {},
    "levit": dict(hidden_sizes=[64, 128, 192], num_attention_heads=[2, 4, 6]),
    "mobilenet_v1": {},
    "mobilenet_v2": {},
    "mobilevit": dict(hidden_sizes=[32, 48, 64], neck_hidden_sizes=[16, 16, 32, 32, 48, 64, 128]),
    "mobilevitv2": {},
    "poolformer": dict(hidden_sizes=[16, 32, 48, 64]),
    "pvt": {},
    "pvt_v2": {},
    "regnet": dict(hidden_sizes=[32, 64, 96, 128], depths=[1, 1, 2, 1], groups_width=16),
    "resnet": dict(hidden_sizes=[32, 64, 96, 128], depths=[1, 1, 2, 1]),
    "segformer": {},
    "siglip_vision_model": {},
    "swiftformer": {},
    "swin": dict(embed_dim=24, depths=[1, 1, 2, 1]),
    "swinv2": dict(embed_dim=24, depths=[1, 1, 2, 1]),
    "vit": {},
    "vit_mae": {},
    "vit_msn": {},
    "clip_vision_model": {},
    "aimv2_vision_model": {},
    "audio-spectrogram-transformer": dict(max_length=128),
}
SOUNDS = dict(
    conv_dim=(32, 32, 32),
    conv_stride=(5, 2, 2),
    conv_kernel=(10, 3, 3),
    num_feat_extract_layers=3,
    num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=4,
)
SPEECH = {
    "wav2vec2": SOUNDS,
    "hubert": SOUNDS,
    "wavlm": SOUNDS,
    "unispeech": SOUNDS,
    "unispeech-sat": SOUNDS,
    "sew": SOUNDS | dict(squeeze_factor=2),
    "data2vec-audio": SOUNDS | dict(conv_pos_kernel_size=9),
    "wav2vec2-conformer": SOUNDS | dict(position_embeddings_type="rotary"),
}
KEEP_SIZES = ("efficientnet", "hgnet_v2", "segformer", "pvt", "pvt_v2", "mobilenet_v1", "mobilenet_v2", "mobilevitv2", "swiftformer", "bit")


def configuration(kind, options, small=True):
    wanted = (SMALL if small else {}) | options
    known = transformers.CONFIG_MAPPING[kind]()
    taken = {key: value for key, value in wanted.items() if hasattr(known, key) or key in options}
    return transformers.CONFIG_MAPPING[kind](**taken)


def build(kind, options, auto=transformers.AutoModel, small=True, pick=None):
    def make():
        config = configuration(kind, options, small)
        config.use_cache = False
        return Unwrapped(auto.from_config(config).eval(), pick)

    return make


def tokens(dynamic, names=("input_ids", "attention_mask"), longest=500):
    def make(k):
        batch, length = ((1, 8), (2, 16), (3, 24))[k] if dynamic else (1, 16)
        values = {}
        for name in names:
            if "mask" in name:
                values[name] = torch.ones(batch, length, dtype=torch.int64)
            else:
                values[name] = torch.randint(4, longest, (batch, length))
        return values

    return seeded(make)


def axes(names):
    return {name: {0: "batch", 1: "length" if "decoder" not in name else "steps"} for name in names}


def pixels(size=64, name="pixel_values", dynamic=False):
    return seeded(lambda k: {name: torch.randn((1, 2, 3)[k] if dynamic else 1, 3, size, size)})


def waves(dynamic):
    return seeded(lambda k: {"input_values": torch.randn(1, (1600, 2400, 3333)[k] if dynamic else 2000)})


class WithCache(torch.nn.Module):
    """A step of a decoder, whose keys and values of earlier steps are inputs, and with those of this step outputs."""

    def __init__(self, module, layers):
        super().__init__()
        self.module, self.layers = module, layers

    def forward(self, input_ids, attention_mask, past):
        cache = transformers.DynamicCache()
        for layer in range(self.layers):
            cache.update(past[layer, 0], past[layer, 1], layer)
        result = self.module(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        states = [torch.stack([layer.keys, layer.values]) for layer in result.past_key_values.layers]
        return result.logits, torch.stack(states)


def with_cache(kind, heads, dynamic):
    def make_module():
        config = configuration(kind, DECODERS[kind])
        config._attn_implementation = "eager"
        return WithCache(transformers.AutoModelForCausalLM.from_config(config).eval(), 2)

    def make(k):
        past, steps = ((5, 1), (9, 1), (17, 1))[k] if dynamic else (9, 1)
        return {
            "input_ids": torch.randint(4, 500, (1, steps)),
            "attention_mask": torch.ones(1, past + steps, dtype=torch.int64),
            "past": torch.randn(2, 2, 1, heads, past, 16),
        }

    names = {"attention_mask": {1: "total"}, "past": {4: "past"}} if dynamic else None
    return Entry(f"transformers/{kind}-cache", make_module, seeded(make), names)


def entries():
    for kind, options in ENCODERS.items():
        names = ("input_ids",) if kind in ("fnet", "canine") else ("input_ids", "attention_mask")
        yield Entry(f"transformers/{kind}", build(kind, options), tokens(False, names))
        if kind in ("bert", "roberta", "distilbert", "albert", "deberta", "electra", "mpnet", "xlnet", "modernbert", "roformer"):
            yield Entry(f"transformers/{kind}", build(kind, options), tokens(True, names), axes(names))
    for kind, options in DECODERS.items():
        auto = transformers.AutoModelForCausalLM
        yield Entry(f"transformers/{kind}", build(kind, options, auto), tokens(False, ("input_ids",)))
        if kind in ("gpt2", "llama", "opt", "phi", "qwen2", "gemma2", "mamba", "bloom", "gpt_neox", "mistral"):
            yield Entry(f"transformers/{kind}", build(kind, options, auto), tokens(True, ("input_ids",)), axes(("input_ids",)))
    for kind, heads in (("llama", 2), ("qwen2", 2), ("gemma2", 2), ("gpt_neox", 4), ("phi", 2)):
        for dynamic in (False, True):
            yield with_cache(kind, heads, dynamic)
    for kind, options in PAIRS.items():
        names = ("input_ids", "decoder_input_ids")
        yield Entry(f"transformers/{kind}", build(kind, options), tokens(False, names))
        if kind in ("t5", "bart", "marian"):
            yield Entry(f"transformers/{kind}", build(kind, options), tokens(True, names), axes(names))
    for kind, options in IMAGES.items():
        small = kind not in KEEP_SIZES
        size = 224 if kind in ("levit", "hiera", "mobilevitv2", "pvt", "swiftformer", "siglip_vision_model", "vit_mae", "ijepa") else 64
        extra = {"image_size": size} if kind not in ("hiera",) else {}
        inputs = pixels(size)
        if kind == "audio-spectrogram-transformer":
            extra, inputs = {}, seeded(lambda k: {"input_values": torch.randn(1, 128, 128)})
        yield Entry(f"transformers/{kind}", build(kind, options | extra, small=small), inputs)
    for kind, options in SPEECH.items():
        yield Entry(f"transformers/{kind}", build(kind, options), waves(False))
        if kind in ("wav2vec2", "hubert"):
            yield Entry(f"transformers/{kind}", build(kind, options), waves(True), {"input_values": {1: "length"}})
    yield Entry(
        "transformers/whisper",
        build("whisper", dict(max_source_positions=100, max_target_positions=64, num_mel_bins=80)),
        seeded(lambda k: {"input_features": torch.randn(1, 80, 200), "decoder_input_ids": torch.randint(4, 500, (1, 8))}),
    )
    yield Entry(
        "transformers/speech_to_text",
        build("speech_to_text", dict(max_source_positions=200, max_target_positions=64)),
        seeded(lambda k: {"input_features": torch.randn(1, 200, 80), "decoder_input_ids": torch.randint(4, 500, (1, 8))}),
    )
    both = seeded(lambda k: {"input_ids": torch.randint(4, 500, (1, 16)), "pixel_values": torch.randn(1, 3, 64, 64)})
    for kind in ("clip", "siglip"):
        parts = {"text_config": SMALL | {"eos_token_id": 2}, "vision_config": SMALL | {"image_size": 64, "patch_size": 16}}
        yield Entry(f"transformers/{kind}", build(kind, parts, small=False), both)
    yield Entry("transformers/yolos", build("yolos", dict(image_size=[64, 64])), pixels(64))
    yield Entry(
        "transformers/dpt",
        build(
            "dpt",
            dict(
                image_size=64,
                num_hidden_layers=4,
                backbone_out_indices=[0, 1, 2, 3],
                neck_hidden_sizes=[16, 32, 48, 64],
                fusion_hidden_size=32,
            ),
            transformers.AutoModelForDepthEstimation,
        ),
        pixels(64),
    )
    yield Entry("transformers/glpn", build("glpn", {}, small=False), pixels(64))
    yield Entry(
        "transformers/detr",
        build(
            "detr",
            dict(
                use_timm_backbone=False,
                use_pretrained_backbone=False,
                backbone_config=transformers.ResNetConfig(hidden_sizes=[32, 64, 96, 128], depths=[1, 1, 1, 1], out_features=["stage4"]),
            ),
            transformers.AutoModelForObjectDetection,
        ),
        pixels(128),
    )
    yield Entry("transformers/rt_detr", build("rt_detr", {}, transformers.AutoModelForObjectDetection, small=False), pixels(128))
    series = seeded(lambda k: {"past_values": torch.randn(1, 64, 3)})
    yield Entry(
        "transformers/patchtst", build("patchtst", dict(num_input_channels=3, context_length=64, patch_length=8, patch_stride=8)), series
    )
    yield Entry(
        "transformers/patchtsmixer",
        build("patchtsmixer", dict(num_input_channels=3, context_length=64, patch_length=8, patch_stride=8)),
        series,
    )
