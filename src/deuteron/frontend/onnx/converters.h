/// \file
/// The converters, by the file that they are in. Each converts the operators of ONNX that op_table.cc names
/// beside it, in all versions from 7 to 25 (early.h: those before).
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

#define DEUTERON_CONVERTER(Name) Results Convert##Name(const NodeContext& node)

// convert_elementwise.cc
DEUTERON_CONVERTER(Unary);
DEUTERON_CONVERTER(Binary);
DEUTERON_CONVERTER(Compare);
DEUTERON_CONVERTER(Variadic);
DEUTERON_CONVERTER(Mod);
DEUTERON_CONVERTER(Pow);
DEUTERON_CONVERTER(BitShift);
DEUTERON_CONVERTER(Reciprocal);
DEUTERON_CONVERTER(IsInf);
DEUTERON_CONVERTER(Clip);
DEUTERON_CONVERTER(Cast);
DEUTERON_CONVERTER(CastLike);
DEUTERON_CONVERTER(Where);
DEUTERON_CONVERTER(Identity);

// convert_activation.cc
DEUTERON_CONVERTER(NamedActivation);  // of one input and the parameters that activation.h tells
DEUTERON_CONVERTER(PRelu);
DEUTERON_CONVERTER(Gelu);
DEUTERON_CONVERTER(Mish);
DEUTERON_CONVERTER(SwiGLU);
DEUTERON_CONVERTER(Swish);
DEUTERON_CONVERTER(Shrink);
DEUTERON_CONVERTER(Softmax);
DEUTERON_CONVERTER(Hardmax);

// convert_reduce.cc
DEUTERON_CONVERTER(Reduce);
DEUTERON_CONVERTER(ArgReduce);
DEUTERON_CONVERTER(CumSum);
DEUTERON_CONVERTER(TopK);

// convert_matmul.cc
DEUTERON_CONVERTER(MatMul);
DEUTERON_CONVERTER(Gemm);
DEUTERON_CONVERTER(Einsum);
DEUTERON_CONVERTER(Attention);
DEUTERON_CONVERTER(RotaryEmbedding);

// convert_conv.cc
DEUTERON_CONVERTER(Conv);
DEUTERON_CONVERTER(DeformConv);
DEUTERON_CONVERTER(ConvTranspose);
DEUTERON_CONVERTER(ConvTransposeWithDynamicPads);

// convert_pool.cc
DEUTERON_CONVERTER(MaxPool);
DEUTERON_CONVERTER(AveragePool);
DEUTERON_CONVERTER(LpPool);
DEUTERON_CONVERTER(GlobalPool);

// convert_norm.cc
DEUTERON_CONVERTER(BatchNormalization);
DEUTERON_CONVERTER(InstanceNormalization);
DEUTERON_CONVERTER(GroupNormalization);
DEUTERON_CONVERTER(LayerNormalization);
DEUTERON_CONVERTER(RMSNormalization);
DEUTERON_CONVERTER(LRN);
DEUTERON_CONVERTER(LpNormalization);
DEUTERON_CONVERTER(MeanVarianceNormalization);

// convert_shape.cc
DEUTERON_CONVERTER(Reshape);
DEUTERON_CONVERTER(Flatten);
DEUTERON_CONVERTER(Transpose);
DEUTERON_CONVERTER(Squeeze);
DEUTERON_CONVERTER(Unsqueeze);
DEUTERON_CONVERTER(Concat);
DEUTERON_CONVERTER(Split);
/// Parts of `x` along `axis` whose sizes, input 1, are symbolic or values of the run; `count` of them, where the node
/// says how many.
Results SplitBySymbols(const NodeContext& node, const relax::Expr& x, int64_t axis,
                       std::optional<int64_t> count = std::nullopt);
DEUTERON_CONVERTER(Expand);
DEUTERON_CONVERTER(Tile);
DEUTERON_CONVERTER(DepthToSpace);
DEUTERON_CONVERTER(SpaceToDepth);
DEUTERON_CONVERTER(Shape);
DEUTERON_CONVERTER(Size);

// convert_pad.cc
/// One axis longer by numbers of elements that only a run knows, which are `fill`.
relax::Expr FillAxis(const NodeContext& node, const relax::Expr& x, int64_t axis, const PrimExpr& before,
                     const PrimExpr& after, const relax::Expr& fill);
DEUTERON_CONVERTER(Pad);

// convert_index.cc
DEUTERON_CONVERTER(Slice);
DEUTERON_CONVERTER(Gather);
DEUTERON_CONVERTER(GatherElements);
DEUTERON_CONVERTER(GatherND);
DEUTERON_CONVERTER(ScatterElements);
DEUTERON_CONVERTER(ScatterND);
DEUTERON_CONVERTER(OneHot);
/// Input `input`: indices of an axis of length `extent`, counted from the beginning; none is outside of it.
relax::Expr IndicesFromBeginning(const NodeContext& node, size_t input, const PrimExpr& extent);

// convert_data_dependent.cc
DEUTERON_CONVERTER(NonZero);
DEUTERON_CONVERTER(ContribUnique);
DEUTERON_CONVERTER(Unique);
DEUTERON_CONVERTER(Compress);
/// Where a vector of booleans is true, int64.
relax::Expr PositionsOfTrue(const NodeContext& node, const relax::Expr& condition);
/// Slice whose operands are data, or some of them.
relax::Expr SliceAtRunTime(const NodeContext& node);

// convert_create.cc
DEUTERON_CONVERTER(Constant);
DEUTERON_CONVERTER(ConstantOfShape);
DEUTERON_CONVERTER(Range);
DEUTERON_CONVERTER(EyeLike);
DEUTERON_CONVERTER(Trilu);

// convert_resize.cc
DEUTERON_CONVERTER(Resize);
DEUTERON_CONVERTER(GridSample);

// convert_recurrent.cc
DEUTERON_CONVERTER(LSTM);
DEUTERON_CONVERTER(GRU);
DEUTERON_CONVERTER(RNN);

// convert_quantize.cc
DEUTERON_CONVERTER(QuantizeLinear);
DEUTERON_CONVERTER(DequantizeLinear);
DEUTERON_CONVERTER(DynamicQuantizeLinear);
DEUTERON_CONVERTER(MatMulInteger);
DEUTERON_CONVERTER(ConvInteger);
DEUTERON_CONVERTER(QLinearMatMul);
DEUTERON_CONVERTER(QLinearConv);

// convert_loss.cc
DEUTERON_CONVERTER(NegativeLogLikelihoodLoss);
DEUTERON_CONVERTER(SoftmaxCrossEntropyLoss);

// convert_signal.cc
DEUTERON_CONVERTER(DFT);
DEUTERON_CONVERTER(STFT);
DEUTERON_CONVERTER(Rfft);
DEUTERON_CONVERTER(Irfft);
DEUTERON_CONVERTER(Window);
DEUTERON_CONVERTER(MelWeightMatrix);

// convert_detect.cc
DEUTERON_CONVERTER(NonMaxSuppression);

// convert_vision.cc
DEUTERON_CONVERTER(Col2Im);
DEUTERON_CONVERTER(MaxUnpool);
DEUTERON_CONVERTER(AffineGrid);
DEUTERON_CONVERTER(RoiAlign);
DEUTERON_CONVERTER(MaxRoiPool);
DEUTERON_CONVERTER(CenterCropPad);
DEUTERON_CONVERTER(ReverseSequence);
DEUTERON_CONVERTER(TensorScatter);

// convert_linear_algebra.cc
DEUTERON_CONVERTER(Det);
DEUTERON_CONVERTER(Inverse);

// contrib_norm.cc
DEUTERON_CONVERTER(SkipLayerNormalization);
DEUTERON_CONVERTER(SkipSimplifiedLayerNormalization);
DEUTERON_CONVERTER(EmbedLayerNormalization);
DEUTERON_CONVERTER(QEmbedLayerNormalization);
DEUTERON_CONVERTER(ContribGroupNorm);
DEUTERON_CONVERTER(BiasGelu);
DEUTERON_CONVERTER(FastGelu);
DEUTERON_CONVERTER(QuickGelu);
DEUTERON_CONVERTER(BiasSplitGelu);
DEUTERON_CONVERTER(BiasAdd);

// contrib_matmul.cc
DEUTERON_CONVERTER(FusedMatMul);
DEUTERON_CONVERTER(FusedGemm);
DEUTERON_CONVERTER(FusedMatMulActivation);
DEUTERON_CONVERTER(GemmFastGelu);
DEUTERON_CONVERTER(FusedConv);
DEUTERON_CONVERTER(MatMulBnb4);
DEUTERON_CONVERTER(MatMulNBits);
DEUTERON_CONVERTER(GatherBlockQuantized);

// contrib_attention.cc
DEUTERON_CONVERTER(ContribAttention);
DEUTERON_CONVERTER(QAttention);
DEUTERON_CONVERTER(DecoderMaskedSelfAttention);
DEUTERON_CONVERTER(MultiHeadAttention);
DEUTERON_CONVERTER(DecoderMaskedMultiHeadAttention);
DEUTERON_CONVERTER(GroupQueryAttention);
DEUTERON_CONVERTER(SparseAttention);
DEUTERON_CONVERTER(MRotaryEmbedding);
DEUTERON_CONVERTER(ContribRotaryEmbedding);

// contrib_packed.cc
DEUTERON_CONVERTER(RemovePadding);
DEUTERON_CONVERTER(RestorePadding);
DEUTERON_CONVERTER(PackedAttention);
DEUTERON_CONVERTER(PackedMultiHeadAttention);
DEUTERON_CONVERTER(RelativePositionBias);
DEUTERON_CONVERTER(GatedRelativePositionBias);

// contrib_elementwise.cc
DEUTERON_CONVERTER(BiasSoftmax);
DEUTERON_CONVERTER(BitCast);
DEUTERON_CONVERTER(ComplexMul);
DEUTERON_CONVERTER(IsAllFinite);
DEUTERON_CONVERTER(MulInteger);
DEUTERON_CONVERTER(MurmurHash3);
DEUTERON_CONVERTER(NGramRepeatBlock);
DEUTERON_CONVERTER(ReduceSumInteger);
DEUTERON_CONVERTER(TorchEmbedding);

// contrib_alignment.cc
DEUTERON_CONVERTER(DynamicTimeWarping);

// contrib_delta_net.cc
DEUTERON_CONVERTER(GatedDeltaNet);

// contrib_varlen.cc
DEUTERON_CONVERTER(VarlenCausalConvWithState);

// contrib_search.cc
DEUTERON_CONVERTER(BeamSearch);
DEUTERON_CONVERTER(GreedySearch);
DEUTERON_CONVERTER(Sampling);

// contrib_nhwc.cc
DEUTERON_CONVERTER(NhwcConv);
DEUTERON_CONVERTER(NhwcFusedConv);
DEUTERON_CONVERTER(NhwcQLinearAveragePool);
DEUTERON_CONVERTER(NhwcQLinearConv);
DEUTERON_CONVERTER(NhwcQLinearConvTranspose);

// contrib_nchwc.cc
DEUTERON_CONVERTER(NchwcConv);
DEUTERON_CONVERTER(NchwcUpsample);
DEUTERON_CONVERTER(ReorderInput);
DEUTERON_CONVERTER(ReorderOutput);

// contrib_quantize.cc
DEUTERON_CONVERTER(QLinearAdd);
DEUTERON_CONVERTER(QLinearMul);
DEUTERON_CONVERTER(QLinearGlobalAveragePool);
DEUTERON_CONVERTER(QLinearConcat);
DEUTERON_CONVERTER(QLinearSigmoid);
DEUTERON_CONVERTER(QLinearLeakyRelu);
DEUTERON_CONVERTER(QLinearSoftmax);
DEUTERON_CONVERTER(QLinearWhere);
DEUTERON_CONVERTER(QLinearReduceMean);
DEUTERON_CONVERTER(QLinearAveragePool);
DEUTERON_CONVERTER(NhwcMaxPool);
DEUTERON_CONVERTER(MatMulIntegerToFloat);
DEUTERON_CONVERTER(DynamicQuantizeMatMul);
DEUTERON_CONVERTER(QGemm);
DEUTERON_CONVERTER(ContribQLinearConv);

// contrib_standard.cc
DEUTERON_CONVERTER(CDist);
DEUTERON_CONVERTER(ContribExpandDims);
DEUTERON_CONVERTER(ContribPad);
DEUTERON_CONVERTER(ContribRange);
DEUTERON_CONVERTER(CropAndResize);
DEUTERON_CONVERTER(UnfoldTensor);

// contrib_gates.cc
DEUTERON_CONVERTER(BranchwiseRMSNorm);
DEUTERON_CONVERTER(EngramGate);
DEUTERON_CONVERTER(GatedAdd);
DEUTERON_CONVERTER(GatedRMSNorm);
DEUTERON_CONVERTER(HyperConnectionPostMix);
DEUTERON_CONVERTER(HyperConnectionPreMix);
DEUTERON_CONVERTER(ScaledSiLU);

// contrib_experts.cc
DEUTERON_CONVERTER(MoE);
DEUTERON_CONVERTER(QMoE);

// contrib_linear_attention.cc
DEUTERON_CONVERTER(CausalConvWithState);
DEUTERON_CONVERTER(LinearAttention);
DEUTERON_CONVERTER(LinearAttentionGate);

// convert_sequence.cc
DEUTERON_CONVERTER(ConcatFromSequence);
DEUTERON_CONVERTER(Optional);
DEUTERON_CONVERTER(OptionalGetElement);
DEUTERON_CONVERTER(OptionalHasElement);
DEUTERON_CONVERTER(SequenceAt);
DEUTERON_CONVERTER(SequenceConstruct);
DEUTERON_CONVERTER(SequenceEmpty);
DEUTERON_CONVERTER(SequenceErase);
DEUTERON_CONVERTER(SequenceInsert);
DEUTERON_CONVERTER(SequenceLength);
DEUTERON_CONVERTER(SequenceMap);
DEUTERON_CONVERTER(SplitToSequence);

// convert_ml.cc
DEUTERON_CONVERTER(ArrayFeatureExtractor);
DEUTERON_CONVERTER(Binarizer);
DEUTERON_CONVERTER(FeatureVectorizer);
DEUTERON_CONVERTER(Imputer);
DEUTERON_CONVERTER(LabelEncoder);
DEUTERON_CONVERTER(LinearClassifier);
DEUTERON_CONVERTER(LinearRegressor);
DEUTERON_CONVERTER(Normalizer);
DEUTERON_CONVERTER(OneHotEncoder);
DEUTERON_CONVERTER(Scaler);
DEUTERON_CONVERTER(TfIdfVectorizer);
DEUTERON_CONVERTER(ZipMap);

// convert_experimental.cc
DEUTERON_CONVERTER(Affine);
DEUTERON_CONVERTER(Crop);
DEUTERON_CONVERTER(ImageScaler);
DEUTERON_CONVERTER(ParametricSoftplus);
DEUTERON_CONVERTER(Scale);
DEUTERON_CONVERTER(ScaledTanh);

// convert_svm.cc
DEUTERON_CONVERTER(SVMClassifier);
DEUTERON_CONVERTER(SVMRegressor);

// convert_random.cc
DEUTERON_CONVERTER(Bernoulli);
DEUTERON_CONVERTER(Dropout);
DEUTERON_CONVERTER(ContribDropout);
DEUTERON_CONVERTER(Multinomial);
DEUTERON_CONVERTER(Random);
DEUTERON_CONVERTER(RandomLike);

// convert_training.cc
DEUTERON_CONVERTER(Adagrad);
DEUTERON_CONVERTER(Adam);
DEUTERON_CONVERTER(Momentum);

// convert_trees.cc
DEUTERON_CONVERTER(TreeEnsemble);
DEUTERON_CONVERTER(TreeEnsembleClassifier);
DEUTERON_CONVERTER(TreeEnsembleRegressor);

// convert_control.cc
DEUTERON_CONVERTER(If);
DEUTERON_CONVERTER(Loop);
DEUTERON_CONVERTER(Scan);

#undef DEUTERON_CONVERTER

}  // namespace deuteron::onnx
