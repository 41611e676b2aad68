"""Networks for images and video of torchvision and timm."""

import timm
import torch
import torchvision

from entry import Applied, Entry, seeded

CLASSIFIERS = """alexnet vgg11_bn resnet18 resnet50 resnext50_32x4d squeezenet1_1 densenet121 googlenet inception_v3 mobilenet_v2
mobilenet_v3_small mobilenet_v3_large mnasnet0_5 shufflenet_v2_x0_5 efficientnet_b0 efficientnet_v2_s regnet_x_400mf
regnet_y_400mf convnext_tiny vit_b_32 swin_t swin_v2_t maxvit_t""".split()
SEGMENTERS = "fcn_resnet50 deeplabv3_mobilenet_v3_large deeplabv3_resnet50 lraspp_mobilenet_v3_large".split()
DETECTORS = "ssdlite320_mobilenet_v3_large fasterrcnn_mobilenet_v3_large_320_fpn retinanet_resnet50_fpn maskrcnn_resnet50_fpn".split()
VIDEO = "r3d_18 mc3_18 r2plus1d_18 s3d mvit_v1_b swin3d_t".split()

TIMM = """resnet10t resnet26d resnetv2_50 resnest14d skresnet18 ecaresnet26t seresnext26t_32x4d sebotnet33ts_256 botnet26t_256
halonet26t lambda_resnet26t bat_resnext26ts gcresnext26ts eca_nfnet_l0 convnext_atto convnextv2_atto coat_tiny coat_lite_tiny
coatnet_nano_rw_224 crossvit_tiny_240 cs3darknet_focus_s cspresnet50 darknet17 davit_tiny deit_tiny_patch16_224
deit3_small_patch16_224 dla34 dpn48b edgenext_xx_small efficientformer_l1 efficientformerv2_s0 efficientnet_lite0
efficientvit_b0 efficientvit_m0 ese_vovnet19b_dw eva02_tiny_patch14_224 fastvit_t8 fbnetc_100 focalnet_tiny_srf gcvit_xxtiny
gernet_s ghostnet_050 ghostnetv2_100 gmixer_12_224 gmlp_ti16_224 hardcorenas_a hgnet_tiny hgnetv2_b0 hiera_tiny_224
hrnet_w18_small inception_next_atto inception_v4 lcnet_035 levit_128s mambaout_femto mixer_s32_224 mixnet_s mobilenetv4_conv_small
mobilenetv4_hybrid_medium mobileone_s0 mobilevit_xxs mobilevitv2_050 mvitv2_tiny nest_tiny nextvit_small nf_regnet_b0 nfnet_l0
pit_ti_224 poolformer_s12 poolformerv2_s12 pvt_v2_b0 regnety_002 regnetz_b16 repghostnet_050 repvgg_a0 repvit_m0_9
res2net50_14w_8s resmlp_12_224 rexnet_100 rdnet_tiny selecsls42b semnasnet_075 sequencer2d_s shvit_s1 starnet_s1 swiftformer_xs
swinv2_cr_tiny_ns_224 swinv2_tiny_window8_256 tf_efficientnet_b0 tf_mixnet_s tiny_vit_5m_224 tinynet_e tnt_s_patch16_224 tresnet_m
twins_svt_small visformer_tiny vit_tiny_patch16_224 vitamin_small_224 volo_d1_224 xception41 xcit_nano_12_p16_224
maxxvit_rmlp_nano_rw_256 vit_relpos_small_patch16_224 vit_srelpos_small_patch16_224 vit_medium_patch16_gap_240""".split()

BATCH = {"x": {0: "batch"}}


def image(size, dynamic=False, frames=None):
    def make(k):
        batch = (1, 2, 3)[k] if dynamic else 1
        shape = (batch, 3, size, size) if frames is None else (batch, 3, frames, size, size)
        return {"x": torch.randn(shape)}

    return seeded(make)


def resized():
    """Images of three sizes, for networks that take any."""
    return seeded(lambda k: {"x": torch.randn(1, 3, (96, 128, 160)[k], (128, 96, 224)[k])})


def of_torchvision(name, **options):
    return lambda: torchvision.models.get_model(name, weights=None, **options)


def entries():
    for name in CLASSIFIERS:
        size = 299 if name == "inception_v3" else 256 if name == "swin_v2_t" else 224
        options = {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
        build = of_torchvision(name, **options)
        yield Entry(f"torchvision/{name}", build, image(size))
        if name in ("resnet18", "mobilenet_v2", "efficientnet_b0", "convnext_tiny", "swin_t", "vit_b_32", "shufflenet_v2_x0_5"):
            yield Entry(f"torchvision/{name}", build, image(size, dynamic=True), BATCH)
    for name in SEGMENTERS:

        def build(name=name):
            return Applied(of_torchvision(name, weights_backbone=None)())

        yield Entry(f"torchvision/{name}", build, image(224))
        yield Entry(f"torchvision/{name}", build, resized(), {"x": {2: "height", 3: "width"}})
    for name in DETECTORS:
        yield Entry(
            f"torchvision/{name}",
            lambda name=name: Applied(of_torchvision(name, weights_backbone=None)(), lambda detector, x: detector([x[0]])),
            seeded(lambda k: {"x": torch.rand(1, 3, 320, 320)}),
        )
    for name in VIDEO:
        yield Entry(f"torchvision/{name}", of_torchvision(name), image(224 if "mvit" in name or "swin" in name else 112, frames=16))
    for name in TIMM:

        def build(name=name):
            return timm.create_model(name, pretrained=False)

        config = timm.get_pretrained_cfg(name, allow_unregistered=True)
        size = config.input_size[-1] if config is not None and getattr(config, "input_size", None) else 224
        yield Entry(f"timm/{name}", build, image(min(size, 256) if size not in (288, 299, 320) else 256))
        if name in ("resnet26d", "mobilevit_xxs", "levit_128s", "coat_lite_tiny", "edgenext_xx_small", "gcvit_xxtiny", "mixer_s32_224"):
            yield Entry(f"timm/{name}", build, image(min(size, 256), dynamic=True), BATCH)
