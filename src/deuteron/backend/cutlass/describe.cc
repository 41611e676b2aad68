/// \file
/// Matches as kernels: operands in the kernels' order, and what the templates are instantiated with.
#include <algorithm>
#include <cmath>

#include "deuteron/backend/cutlass/cutlass.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::backend::cutlass {
namespace {

using relax::Expr;
using Dims = Array<PrimExpr>;

constexpr int64_t kMostChannels = 256;

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

int64_t Known(const PrimExpr& dim, const char* why) {
  const auto value = AsConstInt(dim);
  Require(value.has_value(), why);
  return *value;
}

/// Elements that a row of `dim` can be read in at once: as many as 16 bytes hold, if its length is a multiple.
int64_t AlignmentOf(const PrimExpr& dim, DataType dtype) {
  int64_t elements = 16 / dtype.bytes();
  while (elements > 1 && !IsMultipleOf(dim, elements)) elements /= 2;
  return elements;
}

Dims ShapeOf(const MatchedComposite& composite, const char* role) { return *composite.TensorAt(role)->shape; }

bool IsVector(const Dims& shape, const PrimExpr& columns) {
  if (shape.empty()) return false;
  arith::Analyzer analyzer;
  return analyzer.CanProveEqual(LastOf(shape), columns) &&
         analyzer.CanProveEqual(Product(shape, 0, static_cast<int64_t>(shape.size())), columns);
}

/// Reads the parts that products and convolutions have in common.
class Epilogue {
 public:
  Epilogue(const MatchedComposite& composite, JsonKernel* kernel) : composite_(composite), kernel_(kernel) {}

  /// The result is of `columns`, along which a bias runs.
  void Describe(const PrimExpr& columns) {
    const std::string& name = composite_.name;
    const size_t split = name.find("_residual_");
    const std::string base = name.substr(0, split), rest = split == std::string::npos ? "" : name.substr(split);
    auto& attrs = kernel_->attrs;
    const std::string bias = Operand("bias", columns), residual = Operand("residual", columns);
    Require(residual == "none" || bias == "vector", "a bias as large as the result before a residual");
    attrs["bias"] = bias;
    attrs["residual"] = residual;
    attrs["activation"] = ActivationOf(base);
    attrs["combine"] = Contains(rest, "multiply") ? "multiplies" : "plus";
    attrs["final"] = ActivationOf(rest);
    Require(attrs["activation"] == "Identity" || bias != "none", "an activation without a bias");
  }

 private:
  static std::string ActivationOf(const std::string& name) {
    if (Contains(name, "_relu")) return "ReLu";
    if (Contains(name, "_gelu")) return "GELU";
    return Contains(name, "_silu") ? "SiLu" : "Identity";
  }

  std::string Operand(const char* role, const PrimExpr& columns) {
    if (!composite_.Has(role)) return "none";
    const TensorTypeNode* type = composite_.TensorAt(role);
    const TensorTypeNode* result = KnownTensor(composite_.result);
    Require(type->dtype == result->dtype, "an operand of another dtype than the result");
    kernel_->inputs.push_back(composite_.At(role));
    if (SameShape(*type->shape, *result->shape)) return "full";
    Require(IsVector(*type->shape, columns),
            "an operand that is neither one value a column nor as large as the result");
    return "vector";
  }

  const MatchedComposite& composite_;
  JsonKernel* kernel_;
};

/// How many blocks of a large tile's size the result has, from which its tile follows; null where only the run tells.
nlohmann::json BlocksOf(const Dims& shape) {
  const auto rows = AsConstInt(Product(shape, 0, static_cast<int64_t>(shape.size()) - 1));
  const auto columns = AsConstInt(LastOf(shape));
  if (!rows || !columns) return nullptr;
  return ((*rows + 127) / 128) * ((*columns + 127) / 128);
}

void CheckArithmetic(DataType lhs, DataType rhs, DataType out) {
  Require(lhs == rhs, "operands of two dtypes");
  const bool half = lhs == DataType::Float(16), single = lhs == DataType::Float(32), byte = lhs == DataType::Int(8);
  Require((half && (out == DataType::Float(16) || out == DataType::Float(32))) ||
              (single && out == DataType::Float(32)) || (byte && out == DataType::Int(32)),
          "dtypes that there is no kernel for");
}

JsonKernel DescribeProduct(const MatchedComposite& composite) {
  const bool transposed = Contains(composite.name, "_transposed");
  const TensorTypeNode* lhs = composite.TensorAt("lhs");
  const TensorTypeNode* rhs = composite.TensorAt("rhs");
  const TensorTypeNode* result = KnownTensor(composite.result);
  CheckArithmetic(lhs->dtype, rhs->dtype, result->dtype);
  Require(lhs->ndim >= 1 && rhs->ndim >= 2, "a vector on the right");
  Require(SameShape(*result->shape, ShapeOf(composite, "root")), "an operand that widens the result");
  if (transposed) RequireTransposedRhs(composite);
  const PrimExpr k = LastOf(*lhs->shape), n = LastOf(*result->shape);
  Require(Known(k, "a symbolic inner dimension") > 0, "an empty inner dimension");
  JsonKernel kernel;
  kernel.inputs = {composite.At("lhs"), composite.At("rhs")};
  Epilogue(composite, &kernel).Describe(n);
  auto& attrs = kernel.attrs;
  attrs["family"] = "product";
  attrs["transposed"] = transposed;
  attrs["align_a"] = AlignmentOf(k, lhs->dtype);
  attrs["align_b"] = AlignmentOf(transposed ? k : n, rhs->dtype);
  attrs["align_c"] = AlignmentOf(n, result->dtype);
  if (lhs->dtype == DataType::Int(8)) {
    Require(transposed && IsMultipleOf(k, 16), "integers whose columns are not of whole 16 bytes");
    Require(attrs["activation"] != "GELU", "a GELU of integers");
    Require(attrs["residual"] == "none", "a residual of integers");
  }
  attrs["blocks"] = BlocksOf(*result->shape);
  return kernel;
}

tir::PrimFunc CalledFunction(const MatchedComposite& composite, const char* role, const IRModule& module) {
  const auto* call = composite.value_of(composite.At(role)).as<relax::CallNode>();
  const auto* callee = call == nullptr ? nullptr : call->args[0].as<GlobalVarNode>();
  Require(callee != nullptr, "a call of something that is no function of the module");
  const auto function = As<tir::PrimFunc>(module.Lookup(std::string(callee->name_hint)));
  Require(function.defined(), "a call of something that is no loop-level function");
  return function;
}

JsonKernel DescribeDecodeProduct(const MatchedComposite& composite, const IRModule& module) {
  const TensorTypeNode* lhs = composite.TensorAt("lhs");
  const TensorTypeNode* result = KnownTensor(composite.result);
  const Dims& weights = *KnownTensor(composite.value_of(composite.At("w_decoded")))->shape;
  Require(lhs->dtype == DataType::Float(16) && result->dtype == DataType::Float(16), "a dtype other than float16");
  Require(SameShape(*result->shape, ShapeOf(composite, "root")), "an operand that widens the result");
  Require(weights.size() == 2 && lhs->ndim >= 1, "weights that are no matrix");
  if (const auto* packing = composite.value_of(composite.At("w_encoded")).as<relax::CallNode>()) {
    // TVM's own preprocessing shuffles bytes for a kernel that unpacks them while it multiplies.
    const bool external = !packing->args.empty() && packing->args[0]->kind == RelaxKind::kExternFunc;
    Require(!external, "weights packed by an external function");
  }
  JsonKernel kernel;
  kernel.inputs = {composite.At("lhs"), composite.At("w_encoded"), composite.At("scales")};
  Epilogue(composite, &kernel).Describe(LastOf(*result->shape));
  auto& attrs = kernel.attrs;
  attrs["family"] = "decode";
  attrs["transposed"] = false;
  attrs["decode"] = DecodeExpression(CalledFunction(composite, "w_decoded", module));
  attrs["rows"] = Known(weights[0], "weights of symbolic shape");
  attrs["columns"] = Known(weights[1], "weights of symbolic shape");
  attrs["align_a"] = AlignmentOf(weights[0], lhs->dtype);
  attrs["align_b"] = attrs["align_c"] = AlignmentOf(weights[1], lhs->dtype);
  attrs["blocks"] = BlocksOf(*result->shape);
  return kernel;
}

JsonKernel DescribeConvolution(const MatchedComposite& composite) {
  const TensorTypeNode* x = composite.TensorAt("lhs");
  const TensorTypeNode* w = composite.TensorAt("rhs");
  const TensorTypeNode* result = KnownTensor(composite.result);
  const auto* conv = composite.AttrsAt<relax::ConvAttrsNode>("root");
  CheckArithmetic(x->dtype, w->dtype, result->dtype);
  Require(!(x->dtype == DataType::Int(8)), "a convolution of integers");
  Require(conv->data_layout == "NHWC" && conv->kernel_layout == "OHWI" &&
              (conv->out_layout.empty() || conv->out_layout == "NHWC"),
          "a layout other than NHWC and OHWI");
  Require(conv->groups == 1, "groups");
  Require(SameShape(*result->shape, ShapeOf(composite, "root")), "an operand that widens the result");
  const Dims& kernel_shape = *w->shape;
  // The iterators keep one bit for each row and column of the kernel.
  constexpr int64_t kMostExtent = 32;
  for (int64_t axis : {1, 2})
    Require(Known(kernel_shape[axis], "a kernel of symbolic shape") <= kMostExtent, "a kernel of more than 32 rows");
  const PrimExpr in = kernel_shape[3], out = kernel_shape[0];
  Known(in, "a kernel of symbolic shape");
  JsonKernel kernel;
  kernel.inputs = {composite.At("lhs"), composite.At("rhs")};
  Epilogue(composite, &kernel).Describe(out);
  auto& attrs = kernel.attrs;
  attrs["family"] = "convolution";
  attrs["strides"] = Expanded(conv->strides, 2);
  attrs["padding"] = Expanded(conv->padding, 4);
  attrs["dilation"] = Expanded(conv->dilation, 2);
  attrs["align_a"] = attrs["align_b"] = AlignmentOf(in, x->dtype);
  attrs["align_c"] = AlignmentOf(out, result->dtype);
  attrs["blocks"] = BlocksOf(*result->shape);
  return kernel;
}

/// Scale and mask. `query` is (batch, row, head, channel).
void DescribeMask(const relax::AttentionAttrsNode* attention, const Dims& query, const Dims& value,
                  nlohmann::json* attrs) {
  Require(!attention->window_size.has_value(), "a window");
  const int64_t channels = Known(query[3], "a symbolic number of channels"),
                value_channels = Known(value[3], "a symbolic number of channels");
  Require(channels <= kMostChannels && value_channels <= kMostChannels, "heads of more than 256 channels");
  (*attrs)["scale"] = attention->scale.has_value() ? *attention->scale : 1 / std::sqrt(static_cast<double>(channels));
  (*attrs)["causal"] = attention->causal_mask.has_value();
  (*attrs)["bottom_right"] = attention->causal_mask.has_value() && *attention->causal_mask == "BottomRight";
}

void CheckFloats(const std::vector<DataType>& dtypes) {
  Require(dtypes[0] == DataType::Float(16) || dtypes[0] == DataType::Float(32),
          "a dtype other than float16 or float32");
  for (const DataType dtype : dtypes) Require(dtype == dtypes[0], "operands of two dtypes");
}

/// The call of attention itself.
const relax::CallNode* AttentionCall(const MatchedComposite& composite) {
  return composite.value_of(composite.Has("attention") ? composite.At("attention") : composite.result)
      .as<relax::CallNode>();
}

JsonKernel DescribeAttention(const MatchedComposite& composite) {
  const auto* call = AttentionCall(composite);
  JsonKernel kernel;
  std::vector<DataType> dtypes;
  for (const char* role : {"query", "key", "value"}) {
    kernel.inputs.push_back(composite.At(role));
    dtypes.push_back(composite.TensorAt(role)->dtype);
    Require(composite.TensorAt(role)->ndim == 4, "an operand that has not four axes");
  }
  if (composite.Has("bias")) {
    kernel.inputs.push_back(composite.At("bias"));
    dtypes.push_back(composite.TensorAt("bias")->dtype);
    Require(composite.TensorAt("bias")->ndim == 4, "a bias that has not four axes");
  }
  const bool sequences = composite.Has("seqstart_q");
  if (sequences) {
    for (const char* role : {"seqstart_q", "seqstart_k"}) {
      kernel.inputs.push_back(composite.At(role));
      Require(composite.TensorAt(role)->dtype == DataType::Int(32), "starts of sequences that are not int32");
    }
  }
  CheckFloats(dtypes);
  kernel.attrs["family"] = sequences ? "sequences" : "attention";
  DescribeMask(static_cast<const relax::AttentionAttrsNode*>(call->attrs.get()), ShapeOf(composite, "query"),
               ShapeOf(composite, "value"), &kernel.attrs);
  return kernel;
}

JsonKernel DescribeStackedAttention(const MatchedComposite& composite) {
  const auto* call = AttentionCall(composite);
  const TensorTypeNode* stacked = composite.TensorAt("stacked_qkv");
  std::vector<DataType> dtypes = {stacked->dtype};
  std::vector<Dims> shapes;
  arith::Analyzer analyzer;
  PrimExpr width = I64(0);
  for (size_t i = 0; i < 3; ++i) {
    shapes.push_back(*KnownTensor(call->args[static_cast<int64_t>(i)])->shape);
    const Dims& shape = shapes.back();
    Require(shape.size() == 4, "an operand that has not four axes");
    // (batch, row, heads * channels) as (batch, row, head, channel).
    Require(analyzer.CanProveEqual(shape[0], (*stacked->shape)[0]) &&
                analyzer.CanProveEqual(shape[1], (*stacked->shape)[1]),
            "a reshape that mixes rows");
    Require(analyzer.CanProveEqual(shape[2], shapes[0][2]), "operands of different numbers of heads");
    width = width + shape[2] * shape[3];
  }
  Require(analyzer.CanProveEqual(shapes[0][3], shapes[1][3]), "queries and keys of different lengths");
  Require(analyzer.CanProveEqual(width, (*stacked->shape)[2]), "rows that hold more than queries, keys and values");
  JsonKernel kernel;
  kernel.inputs = {composite.At("stacked_qkv")};
  if (composite.Has("bias")) {
    kernel.inputs.push_back(composite.At("bias"));
    dtypes.push_back(composite.TensorAt("bias")->dtype);
    Require(composite.TensorAt("bias")->ndim == 4, "a bias that has not four axes");
  }
  CheckFloats(dtypes);
  kernel.attrs["family"] = "stacked";
  DescribeMask(static_cast<const relax::AttentionAttrsNode*>(call->attrs.get()), shapes[0], shapes[2], &kernel.attrs);
  kernel.attrs["heads"] = Known(shapes[0][2], "a symbolic number of heads");
  kernel.attrs["channels"] = Known(shapes[0][3], "a symbolic number of channels");
  kernel.attrs["value_channels"] = Known(shapes[2][3], "a symbolic number of channels");
  return kernel;
}

JsonKernel DescribeLayerNorm(const MatchedComposite& composite) {
  const auto* call = composite.result.as<relax::CallNode>();
  JsonKernel kernel;
  std::vector<DataType> dtypes;
  for (const Expr& arg : call->args) {
    kernel.inputs.push_back(arg);
    dtypes.push_back(KnownTensor(arg)->dtype);
  }
  CheckFloats(dtypes);
  kernel.attrs = {{"family", "layer_norm"},
                  {"epsilon", static_cast<const relax::LayerNormAttrsNode*>(call->attrs.get())->epsilon}};
  return kernel;
}

JsonKernel DescribeRMSNorm(const MatchedComposite& composite, const IRModule& module) {
  const auto* call = composite.value_of(composite.At("rms_norm")).as<relax::CallNode>();
  const auto* args = call->args[1].as<relax::TupleNode>();
  Require(args != nullptr && args->fields.size() == 2, "arguments that are no tuple of two tensors");
  JsonKernel kernel;
  std::vector<DataType> dtypes;
  for (const Expr& field : args->fields) {
    kernel.inputs.push_back(field);
    dtypes.push_back(KnownTensor(field)->dtype);
  }
  dtypes.push_back(KnownTensor(composite.result)->dtype);
  CheckFloats(dtypes);
  kernel.attrs = {{"family", "rms_norm"}, {"epsilon", RMSNormEpsilon(CalledFunction(composite, "rms_norm", module))}};
  return kernel;
}

}  // namespace

JsonKernel DescribeKernel(const MatchedComposite& composite, const IRModule& module) {
  const std::string kind = composite.name.substr(std::string("cutlass.").size());
  if (kind.rfind("matmul", 0) == 0) return DescribeProduct(composite);
  if (kind.rfind("decode_matmul", 0) == 0) return DescribeDecodeProduct(composite, module);
  if (kind.rfind("conv2d", 0) == 0) return DescribeConvolution(composite);
  if (kind == "stacked_attention") return DescribeStackedAttention(composite);
  if (kind.rfind("attention", 0) == 0) return DescribeAttention(composite);
  if (kind == "layer_norm") return DescribeLayerNorm(composite);
  if (kind == "rms_norm") return DescribeRMSNorm(composite, module);
  throw Refusal{"a pattern that there is no kernel for"};
}

}  // namespace deuteron::backend::cutlass
