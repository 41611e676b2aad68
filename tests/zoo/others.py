"""Networks of diffusers and torchaudio, and layers of torch.nn."""

import diffusers
import torch
import torchaudio
from torch import nn

from entry import Applied, Entry, Unwrapped, seeded


def of_diffusers():
    small = dict(block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8)
    time = lambda: torch.tensor([7.0])  # noqa: E731
    condition = dict(
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        cross_attention_dim=32,
        attention_head_dim=8,
    )

    def latents(size=16, channels=4):
        return seeded(lambda k: {"sample": torch.randn(1, channels, size, size), "timestep": time()})

    def sizes(k):
        return {
            "sample": torch.randn(1, 4, (16, 24, 32)[k], (16, 32, 24)[k]),
            "timestep": time(),
            "encoder_hidden_states": torch.randn(1, 7, 32),
        }

    yield Entry(
        "diffusers/unet2d",
        lambda: Unwrapped(
            diffusers.UNet2DModel(
                sample_size=16,
                in_channels=4,
                out_channels=4,
                down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                up_block_types=("AttnUpBlock2D", "UpBlock2D"),
                attention_head_dim=8,
                **small,
            )
        ),
        latents(),
    )
    unet = lambda: Unwrapped(diffusers.UNet2DConditionModel(sample_size=16, **condition, **small))  # noqa: E731
    yield Entry("diffusers/unet2d_condition", unet, seeded(lambda k: sizes(0)))
    yield Entry("diffusers/unet2d_condition", unet, seeded(sizes), {"sample": {2: "height", 3: "width"}})
    yield Entry(
        "diffusers/unet1d",
        lambda: Unwrapped(
            diffusers.UNet1DModel(sample_size=64, in_channels=2, out_channels=2, block_out_channels=(32, 32, 64), extra_in_channels=16)
        ),
        seeded(lambda k: {"sample": torch.randn(1, 2, 64), "timestep": time()}),
    )
    yield Entry(
        "diffusers/autoencoder_kl_encode",
        lambda: Applied(
            diffusers.AutoencoderKL(
                down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2, latent_channels=4, **small
            ),
            lambda m, sample: m._encode(sample),
        ),
        seeded(lambda k: {"sample": torch.randn(1, 3, 64, 64)}),
    )
    yield Entry(
        "diffusers/autoencoder_kl_decode",
        lambda: Applied(
            diffusers.AutoencoderKL(
                down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2, latent_channels=4, **small
            ),
            lambda m, sample: m.decode(sample).sample,
        ),
        seeded(lambda k: {"sample": torch.randn(1, 4, 32, 32)}),
    )
    yield Entry(
        "diffusers/autoencoder_tiny",
        lambda: Applied(
            diffusers.AutoencoderTiny(
                encoder_block_out_channels=(32, 32),
                decoder_block_out_channels=(32, 32),
                num_encoder_blocks=(1, 1),
                num_decoder_blocks=(1, 1),
            ),
            lambda m, sample: m.decode(m.encode(sample).latents).sample,
        ),
        seeded(lambda k: {"sample": torch.randn(1, 3, 64, 64)}),
    )
    yield Entry(
        "diffusers/vq",
        lambda: Applied(
            diffusers.VQModel(
                down_block_types=("DownEncoderBlock2D",) * 2,
                up_block_types=("UpDecoderBlock2D",) * 2,
                latent_channels=4,
                num_vq_embeddings=32,
                **small,
            ),
            lambda m, sample: m.decode(sample).sample,
        ),
        seeded(lambda k: {"sample": torch.randn(1, 4, 16, 16)}),
    )
    yield Entry(
        "diffusers/dit",
        lambda: Unwrapped(
            diffusers.DiTTransformer2DModel(
                num_attention_heads=4,
                attention_head_dim=16,
                in_channels=4,
                num_layers=2,
                sample_size=16,
                patch_size=2,
                num_embeds_ada_norm=1000,
            )
        ),
        seeded(lambda k: {"hidden_states": torch.randn(1, 4, 16, 16), "timestep": torch.tensor([7]), "class_labels": torch.tensor([3])}),
    )
    yield Entry(
        "diffusers/pixart",
        lambda: Unwrapped(
            diffusers.PixArtTransformer2DModel(
                num_attention_heads=4,
                attention_head_dim=16,
                in_channels=4,
                out_channels=8,
                num_layers=2,
                sample_size=16,
                patch_size=2,
                cross_attention_dim=64,
                caption_channels=32,
            )
        ),
        seeded(
            lambda k: {
                "hidden_states": torch.randn(1, 4, 16, 16),
                "timestep": torch.tensor([7]),
                "encoder_hidden_states": torch.randn(1, 6, 32),
            }
        ),
    )
    yield Entry(
        "diffusers/sd3",
        lambda: Unwrapped(
            diffusers.SD3Transformer2DModel(
                sample_size=16,
                patch_size=2,
                in_channels=4,
                num_layers=2,
                attention_head_dim=16,
                num_attention_heads=4,
                joint_attention_dim=32,
                caption_projection_dim=64,
                pooled_projection_dim=32,
                out_channels=4,
            )
        ),
        seeded(
            lambda k: {
                "hidden_states": torch.randn(1, 4, 16, 16),
                "encoder_hidden_states": torch.randn(1, 6, 32),
                "pooled_projections": torch.randn(1, 32),
                "timestep": torch.tensor([7]),
            }
        ),
    )
    yield Entry(
        "diffusers/flux",
        lambda: Unwrapped(
            diffusers.FluxTransformer2DModel(
                patch_size=1,
                in_channels=16,
                num_layers=1,
                num_single_layers=2,
                attention_head_dim=16,
                num_attention_heads=4,
                joint_attention_dim=32,
                pooled_projection_dim=32,
                axes_dims_rope=(4, 6, 6),
            )
        ),
        seeded(
            lambda k: {
                "hidden_states": torch.randn(1, 16, 16),
                "encoder_hidden_states": torch.randn(1, 6, 32),
                "pooled_projections": torch.randn(1, 32),
                "timestep": torch.tensor([0.7]),
                "img_ids": torch.zeros(16, 3),
                "txt_ids": torch.zeros(6, 3),
            }
        ),
    )
    yield Entry(
        "diffusers/prior",
        lambda: Unwrapped(
            diffusers.PriorTransformer(
                num_attention_heads=4, attention_head_dim=16, num_layers=2, embedding_dim=32, num_embeddings=7, additional_embeddings=4
            )
        ),
        seeded(
            lambda k: {
                "hidden_states": torch.randn(1, 32),
                "timestep": torch.tensor([7]),
                "proj_embedding": torch.randn(1, 32),
                "encoder_hidden_states": torch.randn(1, 7, 32),
            }
        ),
    )


def of_torchaudio():
    models = torchaudio.models

    def sound(*shape):
        return seeded(lambda k: {"x": torch.randn(*shape)})

    yield Entry(
        "torchaudio/conformer",
        lambda: Applied(models.Conformer(32, 4, 64, 2, 15), lambda m, x, lengths: m(x, lengths)),
        seeded(lambda k: {"x": torch.randn(2, 40, 32), "lengths": torch.tensor([40, 30])}),
    )

    def conv_tasnet():
        return Applied(models.ConvTasNet(enc_num_feats=64, msk_num_feats=32, msk_num_hidden_feats=64, msk_num_layers=4, msk_num_stacks=2))

    yield Entry("torchaudio/conv_tasnet", conv_tasnet, sound(1, 1, 1600))
    yield Entry(
        "torchaudio/conv_tasnet",
        conv_tasnet,
        seeded(lambda k: {"x": torch.randn(1, 1, (800, 1600, 2400)[k])}),
        {"x": {2: "length"}},
    )
    yield Entry("torchaudio/deepspeech", lambda: Applied(models.DeepSpeech(40, n_hidden=128)), sound(1, 1, 30, 40))
    yield Entry(
        "torchaudio/wav2letter", lambda: Applied(models.Wav2Letter(num_classes=40, input_type="mfcc", num_features=13)), sound(1, 13, 200)
    )
    yield Entry(
        "torchaudio/wavernn",
        lambda: Applied(
            models.WaveRNN([2, 2], 16, 4, n_rnn=32, n_fc=32, n_freq=20, n_hidden=16, n_output=16, kernel_size=5, n_res_block=2),
            lambda m, waveform, specgram: m(waveform, specgram),
        ),
        seeded(lambda k: {"waveform": torch.randn(1, 1, 24), "specgram": torch.randn(1, 1, 20, 10)}),
    )
    yield Entry("torchaudio/hdemucs", lambda: Applied(models.HDemucs(["a", "b"], channels=16, nfft=1024, depth=4)), sound(1, 2, 16384))
    yield Entry(
        "torchaudio/wav2vec2_base",
        lambda: Applied(
            models.wav2vec2_model(
                "layer_norm", [(32, 10, 5), (32, 3, 2)], True, 64, 0.0, 16, 4, 2, 4, 0.0, 0.0, 128, 0.0, 0.0, True, 0.0, 20
            )
        ),
        sound(1, 2000),
    )


def of_nn():
    def entry(name, make, *shape):
        return Entry(f"torch.nn/{name}", lambda: Applied(make()), seeded(lambda k: {"x": torch.randn(*shape)}))

    for kind in ("LSTM", "GRU", "RNN"):
        layer = getattr(nn, kind)
        yield entry(
            f"{kind} of 2 layers, both ways",
            lambda layer=layer: layer(24, 32, num_layers=2, bidirectional=True, batch_first=True),
            2,
            20,
            24,
        )
        yield Entry(
            f"torch.nn/{kind} of any length",
            lambda layer=layer: Applied(layer(24, 32, batch_first=True)),
            seeded(lambda k: {"x": torch.randn(1, (7, 20, 33)[k], 24)}),
            {"x": {1: "length"}},
        )
    yield entry(
        "TransformerEncoder",
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2, enable_nested_tensor=False),
        2,
        12,
        32,
    )
    yield entry(
        "TransformerEncoder, norm first",
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True), 2, enable_nested_tensor=False
        ),
        2,
        12,
        32,
    )
    yield Entry(
        "torch.nn/Transformer",
        lambda: Applied(nn.Transformer(32, 4, 1, 1, 64, batch_first=True), lambda m, src, tgt: m(src, tgt)),
        seeded(lambda k: {"src": torch.randn(1, 10, 32), "tgt": torch.randn(1, 6, 32)}),
    )
    yield Entry(
        "torch.nn/MultiheadAttention",
        lambda: Applied(nn.MultiheadAttention(32, 4, batch_first=True), lambda m, q, k, v: m(q, k, v)),
        seeded(lambda k: {"q": torch.randn(1, 5, 32), "k": torch.randn(1, 9, 32), "v": torch.randn(1, 9, 32)}),
    )
    yield entry("ConvTranspose1d", lambda: nn.ConvTranspose1d(8, 12, 5, stride=3, padding=1, output_padding=1), 2, 8, 17)
    yield entry("ConvTranspose2d", lambda: nn.ConvTranspose2d(8, 12, 3, stride=2, padding=1, groups=2), 2, 8, 9, 11)
    yield entry("ConvTranspose3d", lambda: nn.ConvTranspose3d(4, 6, 3, stride=2), 1, 4, 5, 6, 7)
    yield entry("Conv3d", lambda: nn.Conv3d(3, 8, 3, padding=1, dilation=1, stride=2), 1, 3, 8, 9, 10)
    yield entry(
        "PixelShuffle", lambda: nn.Sequential(nn.Conv2d(3, 36, 3, padding=1), nn.PixelShuffle(3), nn.PixelUnshuffle(3)), 1, 3, 12, 12
    )
    yield entry(
        "Upsample",
        lambda: nn.Sequential(nn.Upsample(scale_factor=2, mode="bicubic"), nn.Upsample(scale_factor=1.7, mode="bilinear")),
        1,
        3,
        11,
        13,
    )
    yield entry("Fold of Unfold", lambda: nn.Sequential(nn.Unfold(3, padding=1), nn.Fold((12, 12), 3, padding=1)), 1, 4, 12, 12)
    yield entry(
        "pools", lambda: nn.Sequential(nn.MaxPool2d(3, 2, 1, ceil_mode=True), nn.LPPool2d(2, 2), nn.AdaptiveAvgPool2d((3, 2))), 1, 4, 30, 31
    )
    yield entry("paddings", lambda: nn.Sequential(nn.ReflectionPad2d(2), nn.ReplicationPad2d(1), nn.CircularPad2d(1)), 1, 3, 9, 10)
    yield entry(
        "norms",
        lambda: nn.Sequential(nn.GroupNorm(2, 8), nn.InstanceNorm2d(8, affine=True), nn.BatchNorm2d(8), nn.LocalResponseNorm(3)),
        2,
        8,
        9,
        9,
    )
    yield entry(
        "activations",
        lambda: nn.Sequential(
            nn.CELU(),
            nn.SELU(),
            nn.Mish(),
            nn.Hardswish(),
            nn.Softplus(),
            nn.LogSigmoid(),
            nn.Softshrink(0.1),
            nn.Tanhshrink(),
            nn.RReLU(),
            nn.GLU(),
        ),
        3,
        40,
    )
    yield entry("Bilinear and cosine", lambda: Pairs(), 6, 10)


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.bilinear = nn.Bilinear(10, 10, 7)

    def forward(self, x):
        return self.bilinear(x, x.flip(0)), nn.functional.cosine_similarity(x, x.roll(1, 0)), torch.cdist(x, x)


def entries():
    yield from of_diffusers()
    yield from of_torchaudio()
    yield from of_nn()
