"""Networks for images, text and sound of which every size that may differ does: batch, height and width, lengths, prompts, words."""

import diffusers
import torch
import torchvision
import transformers

from entry import Applied, Entry, Unwrapped, seeded
from language import SMALL, SOUNDS

# Of three runs; the first is what exporters see, who take a size of 1 for a constant.
BATCH = (2, 1, 3)
SIZES = ((128, 96), (96, 128), (160, 224))
ODD = ((128, 96), (97, 131), (163, 225))
PATCHES = ((84, 56), (56, 84), (112, 140))
IMAGE = {0: "batch", 2: "height", 3: "width"}
DETR = dict(
    use_timm_backbone=False,
    use_pretrained_backbone=False,
    d_model=64,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=128,
    decoder_ffn_dim=128,
)


def shrunk(values):
    """The values of a configuration as SMALL has them, in those of its parts, too."""
    kept = {}
    for key, value in values.items():
        if isinstance(value, dict) and key.endswith("_config"):
            kept[key] = shrunk(value)
        elif key in SMALL and isinstance(value, (int, float)):
            kept[key] = SMALL[key]
    return kept


def configured(kind, options, small):
    """`options`: values by name, "part_config.name" in a part."""
    make = transformers.CONFIG_MAPPING[kind]
    values = shrunk(make().to_dict()) if small else {}
    for path, value in options.items():
        *parts, name = path.split(".")
        place = values
        for part in parts:
            place = place.setdefault(part, {})
        place[name] = value
    config = make(**values)
    config.use_cache = False
    config._experts_implementation = "eager"
    return config


def built(kind, options, auto=transformers.AutoModel, small=True, call=None):
    def make():
        config = configured(kind, options, small)
        module = (auto.from_config(config) if hasattr(auto, "from_config") else auto(config)).eval()
        return Applied(module, call) if call else Unwrapped(module)

    return make


def of_images(kind, options, sizes=SIZES, auto=transformers.AutoModel, small=False):
    inputs = seeded(lambda k: {"pixel_values": torch.randn(BATCH[k], 3, *sizes[k])})
    return Entry(f"transformers/{kind}, any size", built(kind, options, auto, small), inputs, {"pixel_values": IMAGE})


def images():
    resnet = dict(hidden_sizes=[32, 64, 96, 128], depths=[1, 1, 1, 1])
    swin = dict(embed_dim=24, depths=[1, 1, 2, 1], num_heads=[2, 2, 2, 2], out_features=["stage1", "stage2", "stage3", "stage4"])
    dino = dict(hidden_size=64, num_attention_heads=4, intermediate_size=128, image_size=56, patch_size=14)
    yield of_images("segformer", {}, ODD, transformers.SegformerForSemanticSegmentation)
    yield of_images("dinov2", dino | dict(num_hidden_layers=2), PATCHES)
    yield of_images("detr", DETR | dict(backbone_config=transformers.ResNetConfig(**resnet, out_features=["stage4"])), auto=transformers.DetrForObjectDetection)
    yield of_images(
        "deformable_detr",
        DETR | dict(backbone_config=transformers.ResNetConfig(**resnet, out_features=["stage2", "stage3", "stage4"]), num_queries=20),
        auto=transformers.DeformableDetrForObjectDetection,
    )
    yield of_images(
        "mask2former",
        dict(
            backbone_config=transformers.SwinConfig(**swin),
            feature_size=32,
            mask_feature_size=32,
            hidden_dim=32,
            encoder_feedforward_dim=64,
            encoder_layers=2,
            decoder_layers=3,
            num_attention_heads=4,
            num_queries=20,
            dim_feedforward=64,
        ),
        auto=transformers.Mask2FormerForUniversalSegmentation,
    )
    backbone = dino | dict(num_hidden_layers=4, out_indices=[1, 2, 3, 4], apply_layernorm=True, reshape_hidden_states=False)
    yield of_images(
        "depth_anything",
        dict(
            backbone_config=transformers.Dinov2Config(**backbone),
            reassemble_hidden_size=64,
            neck_hidden_sizes=[16, 32, 48, 64],
            fusion_hidden_size=32,
        ),
        PATCHES,
        transformers.DepthAnythingForDepthEstimation,
    )
    frames = ((128, 160), (128, 128), (192, 136))
    yield Entry(
        "torchvision/raft_small, any size",
        lambda: Applied(torchvision.models.get_model("raft_small", weights=None), lambda m, a, b: m(a, b, num_flow_updates=2)[-1]),
        seeded(lambda k: {name: torch.rand(1, 3, *frames[k]) for name in "ab"}),
        {name: {2: "height", 3: "width"} for name in "ab"},
    )


def prompts():
    """Of images with points or words."""
    sam = dict(image_size=64, patch_size=8)
    vision = sam | dict(output_channels=32, window_size=4, global_attn_indexes=[1], mlp_dim=128, num_pos_feats=16)
    parts = dict(vision_config=vision, prompt_encoder_config=sam | dict(hidden_size=32), mask_decoder_config=dict(hidden_size=32, mlp_dim=64))
    yield Entry(
        "transformers/sam, any prompt",
        built(
            "sam",
            {f"{part}.{name}": value for part, values in parts.items() for name, value in values.items()},
            call=lambda m, pixel_values, input_points: m(pixel_values=pixel_values, input_points=input_points),
        ),
        seeded(lambda k: {"pixel_values": torch.randn(1, 3, 64, 64), "input_points": 64 * torch.rand(1, (3, 1, 2)[k], (2, 1, 4)[k], 2)}),
        {"input_points": {1: "prompts", 2: "points"}},
    )
    yield Entry(
        "transformers/clipseg, any words",
        built(
            "clipseg",
            {
                "vision_config.image_size": 64,
                "vision_config.patch_size": 16,
                "text_config.eos_token_id": 2,
                "projection_dim": 32,
                "extract_layers": [0, 1],
                "reduce_dim": 16,
                "decoder_num_attention_heads": 4,
                "decoder_intermediate_size": 32,
            },
            transformers.CLIPSegForImageSegmentation,
        ),
        seeded(lambda k: {"input_ids": torch.randint(4, 400, (BATCH[k], (16, 8, 12)[k])), "pixel_values": torch.randn(BATCH[k], 3, 64, 64)}),
        {"input_ids": {0: "batch", 1: "length"}, "pixel_values": {0: "batch"}},
    )


def words(k):
    return torch.randint(4, 500, (BATCH[k], (16, 8, 24)[k]))


def texts():
    axes = {0: "batch", 1: "length"}
    masked = seeded(lambda k: {"input_ids": words(k), "attention_mask": torch.ones(BATCH[k], (16, 8, 24)[k], dtype=torch.int64)})
    yield Entry(
        "transformers/gpt_oss, any length",
        built("gpt_oss", dict(num_local_experts=4), transformers.AutoModelForCausalLM),
        masked,
        {"input_ids": axes, "attention_mask": axes},
    )
    yield Entry(
        "transformers/pegasus_x, any length",
        built("pegasus_x", dict(block_size=8, num_global_tokens=4)),
        seeded(lambda k: {"input_ids": words(k), "decoder_input_ids": words(k)}),
        {"input_ids": axes, "decoder_input_ids": {0: "batch", 1: "steps"}},
    )
    yield Entry(
        "transformers/trocr, any length",
        built(
            "trocr",
            {},
            transformers.TrOCRForCausalLM,
            call=lambda m, input_ids, encoder_hidden_states: m(input_ids, encoder_hidden_states=encoder_hidden_states).logits,
        ),
        seeded(lambda k: {"input_ids": words(k), "encoder_hidden_states": torch.randn(BATCH[k], (7, 10, 20)[k], 64)}),
        {"input_ids": axes, "encoder_hidden_states": {0: "batch", 1: "source"}},
    )


class WhisperSteps(torch.nn.Module):
    """Steps of Whisper's decoder, whose keys and values of earlier steps are inputs, and with those of these steps outputs."""

    def __init__(self):
        super().__init__()
        config = configured("whisper", dict(max_source_positions=100, max_target_positions=64, num_mel_bins=80), True)
        config._attn_implementation = "eager"
        self.module = transformers.WhisperForConditionalGeneration(config).eval()

    def forward(self, decoder_input_ids, encoder, past, cross):
        cache = transformers.EncoderDecoderCache(transformers.DynamicCache(), transformers.DynamicCache())
        for layer in range(2):
            cache.self_attention_cache.update(past[layer, 0], past[layer, 1], layer)
            cache.cross_attention_cache.update(cross[layer, 0], cross[layer, 1], layer)
            cache.is_updated[layer] = True
        positions = torch.arange(decoder_input_ids.shape[1])[None] + past.shape[4]
        result = self.module.model.decoder(
            input_ids=decoder_input_ids, encoder_hidden_states=encoder, past_key_values=cache, use_cache=True, position_ids=positions
        )
        states = [torch.stack([layer.keys, layer.values]) for layer in result.past_key_values.self_attention_cache.layers]
        return self.module.proj_out(result.last_hidden_state), torch.stack(states)


def steps(k):
    batch, past, count = ((2, 9, 2), (1, 5, 1), (1, 17, 3))[k]
    return {
        "decoder_input_ids": torch.randint(4, 500, (batch, count)),
        "encoder": torch.randn(batch, 100, 64),
        "past": torch.randn(2, 2, batch, 4, past, 16),
        "cross": torch.randn(2, 2, batch, 4, 100, 16),
    }


def sounds():
    axes = {"decoder_input_ids": {0: "batch", 1: "steps"}, "encoder": {0: "batch"}, "past": {2: "batch", 4: "past"}, "cross": {2: "batch"}}
    yield Entry("transformers/whisper-cache, any length", WhisperSteps, seeded(steps), axes)
    waves = seeded(lambda k: {"input_values": torch.randn(BATCH[k], (2400, 1600, 3333)[k])})
    yield Entry("transformers/wavlm, any length", built("wavlm", SOUNDS), waves, {"input_values": {0: "batch", 1: "length"}})
    yield Entry(
        "transformers/parakeet_ctc, any length",
        built("parakeet_ctc", {"encoder_config.num_mel_bins": 80, "encoder_config.subsampling_conv_channels": 32}, transformers.ParakeetForCTC),
        seeded(lambda k: {"input_features": torch.randn(BATCH[k], (60, 40, 77)[k], 80)}),
        {"input_features": {0: "batch", 1: "frames"}},
    )
    yield Entry(
        "transformers/encodec, any length",
        built("encodec", dict(num_filters=8, hidden_size=32, codebook_dim=32, upsampling_ratios=[5, 4, 2]), small=False),
        seeded(lambda k: {"input_values": torch.randn(1, 1, (960, 640, 1280)[k])}),
        {"input_values": {2: "length"}},
    )
    yield Entry(
        "transformers/vits, any length",
        built(
            "vits",
            dict(
                hidden_size=32,
                flow_size=32,
                prior_encoder_num_wavenet_layers=2,
                num_hidden_layers=2,
                num_attention_heads=2,
                ffn_dim=64,
                upsample_initial_channel=32,
                use_stochastic_duration_prediction=False,
                noise_scale=0.0,
                vocab_size=40,
            ),
            small=False,
            call=lambda m, input_ids: m(input_ids).waveform,
        ),
        seeded(lambda k: {"input_ids": torch.randint(4, 40, (1, (12, 8, 17)[k]))}),
        {"input_ids": {1: "length"}},
    )


def latents():
    height, width = (24, 16, 32), (32, 16, 24)
    yield Entry(
        "diffusers/sd3, any size",
        lambda: Unwrapped(
            diffusers.SD3Transformer2DModel(
                sample_size=32,
                patch_size=2,
                in_channels=4,
                num_layers=2,
                attention_head_dim=16,
                num_attention_heads=4,
                joint_attention_dim=32,
                caption_projection_dim=64,
                pooled_projection_dim=32,
                out_channels=4,
                pos_embed_max_size=32,
            )
        ),
        seeded(
            lambda k: {
                "hidden_states": torch.randn(BATCH[k], 4, height[k], width[k]),
                "encoder_hidden_states": torch.randn(BATCH[k], (9, 6, 11)[k], 32),
                "pooled_projections": torch.randn(BATCH[k], 32),
                "timestep": torch.full((BATCH[k],), 7.0),
            }
        ),
        {
            "hidden_states": IMAGE,
            "encoder_hidden_states": {0: "batch", 1: "words"},
            "pooled_projections": {0: "batch"},
            "timestep": {0: "batch"},
        },
    )


def entries():
    for family in (images, prompts, texts, sounds, latents):
        yield from family()
