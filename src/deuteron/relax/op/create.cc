#include "deuteron/relax/op/create.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/transform.h"

namespace deuteron::relax {
namespace {

/// The attribute's dtype, or `otherwise`.
DataType InitDType(const Call& call, DataType otherwise) {
  const auto* attrs = AttrsOf<InitAttrsNode>(call);
  return attrs->dtype.has_value() ? *attrs->dtype : otherwise;
}

DataType FillDType(const Call& call, size_t index) {
  if (const auto* prim = call->args[index].ty().as<PrimTypeNode>()) return prim->dtype;
  CheckRank(call, index, 0);
  return TensorArg(call, index)->dtype;
}

Type ShapedType(const Call& call, DataType dtype) {
  const auto shape = ShapeArg(call, 0);
  return MakeTensorType(shape, call->args[0].ty().as<ShapeTypeNode>()->ndim, dtype, VDevice());
}

Type InferFull(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  return ShapedType(call, InitDType(call, FillDType(call, 1)));
}
Type InferFullLike(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  FillDType(call, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  return WithDType(data, InitDType(call, data->dtype));
}
Type InferConstantFill(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const auto* attrs = AttrsOf<InitAttrsNode>(call);
  if (!attrs->dtype.has_value() || attrs->dtype.value().is_void()) ThrowOpError(call, "needs a dtype");
  return ShapedType(call, attrs->dtype.value());
}
Type InferConstantFillLike(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  return WithDType(data, InitDType(call, data->dtype));
}

DataType ResultDType(const Call& call) { return Downcast<TensorType>(call.ty())->dtype; }

Expr LegalizeFull(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "full", {call->args[1]}, [&](const Array<te::Tensor>& args) {
    return topi::Full(ResultShape(call), CastTo(ResultDType(call), args[0]({})));
  });
}

template <int value>
Expr LegalizeConstantFill(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, value == 0 ? "zeros" : "ones", {}, [&](const Array<te::Tensor>&) {
    return topi::Full(ResultShape(call), MakeConst(ResultDType(call), value));
  });
}

[[noreturn]] void ThrowLength(const Call& call, double length) {
  std::ostringstream text;
  text << "its length is " << length;
  ThrowOpError(call, text.str());
}

/// ceil((end - start) / step) of numbers, at least 0; an error where it is no length that a tensor can have.
PrimExpr LengthOfRange(const Call& call, double start, double end, double step) {
  const double length = std::ceil((end - start) / step);
  if (!(length < 0x1p63)) ThrowLength(call, length);
  return I64(static_cast<int64_t>(std::max(length, 0.0)));
}

PrimExpr LengthOfRange(const Call& call, int64_t start, int64_t end, int64_t step) {
  const __int128 span = step > 0 ? static_cast<__int128>(end) - start : static_cast<__int128>(start) - end;
  const __int128 stride = step > 0 ? step : -static_cast<__int128>(step);
  const __int128 length = span > 0 ? (span + stride - 1) / stride : 0;
  if (length > std::numeric_limits<int64_t>::max()) ThrowLength(call, static_cast<double>(length));
  return I64(static_cast<int64_t>(length));
}

/// The same of expressions.
PrimExpr ArangeLength(const Call& call, const PrimExpr& start, const PrimExpr& end, const PrimExpr& step,
                      arith::Analyzer* analyzer) {
  const auto number = [](const PrimExpr& expr) -> std::optional<double> {
    if (const auto value = AsConstInt(expr)) return static_cast<double>(*value);
    if (const auto* value = expr.as<tir::FloatImmNode>()) return value->value;
    return std::nullopt;
  };
  if (start.dtype().is_float() || end.dtype().is_float() || step.dtype().is_float()) {
    const auto first = number(start);
    const auto last = number(end);
    const auto stride = number(step);
    if (!first || !last || !stride) ThrowOpError(call, "its bounds are neither integers nor constants");
    if (*stride == 0) ThrowOpError(call, "its step is 0");
    return LengthOfRange(call, *first, *last, *stride);
  }
  const auto as_int64 = [](const PrimExpr& value) { return CastTo(DataType::Int(64), value); };
  const auto stride = AsConstInt(step);
  if (stride && *stride == 0) ThrowOpError(call, "its step is 0");
  const auto first = AsConstInt(start);
  const auto last = AsConstInt(end);
  if (first && last && stride) return LengthOfRange(call, *first, *last, *stride);
  PrimExpr length;
  if (stride && *stride < 0) {
    if (*stride == std::numeric_limits<int64_t>::min()) ThrowOpError(call, "its step is beyond what a tensor is long");
    length = FloorDiv(as_int64(start) - as_int64(end) + (-*stride - 1), I64(-*stride));
  } else {  // a symbolic step is taken for positive
    length = FloorDiv(as_int64(end) - as_int64(start) + as_int64(step) - 1, as_int64(step));
  }
  return analyzer->Simplify(Max(length, I64(0)));
}

Type InferArange(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 3);
  const PrimExpr start = PrimArg(call, 0);
  const PrimExpr length = ArangeLength(call, start, PrimArg(call, 1), PrimArg(call, 2), &builder.analyzer());
  return TensorType({length}, InitDType(call, start.dtype()));
}

Expr LegalizeArange(BlockBuilder& builder, const Call& call) {
  return builder.CallTE("arange", {}, [&](const Array<te::Tensor>&) {
    const DataType dtype = ResultDType(call);
    const bool is_float = PrimArg(call, 0).dtype().is_float() || PrimArg(call, 2).dtype().is_float();
    return Array<te::Tensor>{te::Compute(
        ResultShape(call),
        [&](const Array<tir::Var>& vars) {
          // Computed in the type of the bounds, or in double: float32 would drift.
          const DataType type = is_float ? DataType::Float(64) : DataType::Int(64);
          return CastTo(dtype, CastTo(type, vars[0]) * CastTo(type, PrimArg(call, 2)) + CastTo(type, PrimArg(call, 0)));
        },
        "T_arange", {}, topi::NamesOfAxes(topi::AxisNames::kAx, 1))};
  });
}

Type InferTrilu(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim != kUnknownNDim && data->ndim < 2) {
    ThrowOpError(call, "needs a tensor of rank 2 at least and is given " + Describe(GetRef<Type>(data)));
  }
  if (call->args.size() == 2) PrimArg(call, 1);
  return GetRef<Type>(data);
}

template <bool upper>
Expr LegalizeTrilu(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const PrimExpr k = call->args.size() == 2 ? PrimArg(call, 1) : I64(0);
  return builder.CallTE(upper ? "triu" : "tril", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{topi::Trilu(args[0], k, upper)};
  });
}

Type InferEye(const Call& call, const BlockBuilder&) {
  CheckArity(call, 3, 3);
  PrimArg(call, 2);
  const auto extent = [&](size_t index) { return CastTo(DataType::Int(64), PrimArg(call, index)); };
  return TensorType({extent(0), extent(1)}, InitDType(call, DataType::Float(32)));
}
Type InferEyeLike(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  CheckRank(call, 0, 2);
  PrimArg(call, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  return WithDType(data, InitDType(call, data->dtype));
}
Expr LegalizeEye(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const PrimExpr k = CastTo(DataType::Int(64), PrimArg(call, call->args.size() - 1));
  return builder.CallTE("eye", {}, [&](const Array<te::Tensor>&) {
    const DataType dtype = ResultDType(call);
    return Array<te::Tensor>{te::Compute(ResultShape(call),
                                         [&](const Array<tir::Var>& vars) {
                                           return SelectExpr(deuteron::Equal(vars[0], vars[1] - k), MakeConst(dtype, 1),
                                                             MakeConst(dtype, 0));
                                         },
                                         "eye", {}, {"i", "j"})};
  });
}

Type InferHammingWindow(const Call& call, const BlockBuilder&) {
  CheckArity(call, 4, 4);
  for (size_t i = 1; i < 4; ++i) PrimArg(call, i);
  const DataType dtype = InitDType(call, DataType::Float(32));
  if (!dtype.is_float()) ThrowOpError(call, "its dtype must be one of floating point and is " + dtype.ToString());
  const PrimExpr size = CastTo(DataType::Int(64), PrimArg(call, 0));
  if (const auto length = AsConstInt(size); length && *length < 1)
    ThrowOpError(call, "its window_size must be positive");
  return TensorType({size}, dtype);
}

Expr LegalizeHammingWindow(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "hamming_window", {}, [&](const Array<te::Tensor>&) {
    const auto real = [](const PrimExpr& value) { return CastTo(DataType::Float(64), value); };
    const PrimExpr length = ResultShape(call)[0];
    const bool periodic = AsConstInt(PrimArg(call, 1)).value_or(1) != 0;
    // A symmetric window of one element is its peak.
    const PrimExpr period = periodic ? length : Max(length - 1, I64(1));
    return te::Compute(
        ResultShape(call),
        [&](const Array<tir::Var>& vars) {
          const PrimExpr turn = MakeConst(DataType::Float(64), 2 * std::acos(-1.0)) * real(vars[0]) / real(period);
          const PrimExpr value = real(PrimArg(call, 2)) - real(PrimArg(call, 3)) * CallIntrin("cos", {turn});
          return CastTo(ResultDType(call), value);
        },
        "T_hamming_window", {}, topi::NamesOfAxes(topi::AxisNames::kAx, 1));
  });
}

Attrs MakeInitAttrs(DataType dtype) {
  auto attrs = MakeNode<InitAttrsNode>();
  attrs->dtype = OptionalDType(dtype);
  return Attrs(attrs);
}

}  // namespace

std::vector<OpInfo> CreateOps() {
  constexpr const char* kInit = "deuteron.relax.InitAttrs";
  return {
      {"full", {"shape", "fill_value"}, kInit, InferFull, LegalizeFull},
      {"full_like", {"x", "fill_value"}, kInit, InferFullLike, LegalizeFull},
      {"ones", {"shape"}, kInit, InferConstantFill, LegalizeConstantFill<1>},
      {"ones_like", {"x"}, kInit, InferConstantFillLike, LegalizeConstantFill<1>},
      {"zeros", {"shape"}, kInit, InferConstantFill, LegalizeConstantFill<0>},
      {"zeros_like", {"x"}, kInit, InferConstantFillLike, LegalizeConstantFill<0>},
      {"arange", {"start", "end", "step"}, kInit, InferArange, LegalizeArange},
      {"tril", {"x", "k?"}, nullptr, InferTrilu, LegalizeTrilu<false>},
      {"triu", {"x", "k?"}, nullptr, InferTrilu, LegalizeTrilu<true>},
      {"hamming_window",
       {"window_size", "periodic", "alpha", "beta"},
       kInit,
       InferHammingWindow,
       LegalizeHammingWindow},
      {"eye", {"n", "m", "k"}, kInit, InferEye, LegalizeEye},
      {"eye_like", {"x", "k"}, kInit, InferEyeLike, LegalizeEye},
  };
}

Expr Full(Array<PrimExpr> shape, Expr fill_value, DataType dtype) {
  return Full(Expr(ShapeExpr(std::move(shape))), std::move(fill_value), dtype);
}
Expr Full(Expr shape, Expr fill_value, DataType dtype) {
  return MakeCall("full", {std::move(shape), std::move(fill_value)}, MakeInitAttrs(dtype));
}
Expr FullLike(Expr data, Expr fill_value, DataType dtype) {
  return MakeCall("full_like", {std::move(data), std::move(fill_value)}, MakeInitAttrs(dtype));
}
Expr Ones(Array<PrimExpr> shape, DataType dtype) { return Ones(Expr(ShapeExpr(std::move(shape))), dtype); }
Expr Ones(Expr shape, DataType dtype) { return MakeCall("ones", {std::move(shape)}, MakeInitAttrs(dtype)); }
Expr OnesLike(Expr data, DataType dtype) { return MakeCall("ones_like", {std::move(data)}, MakeInitAttrs(dtype)); }
Expr Zeros(Array<PrimExpr> shape, DataType dtype) { return Zeros(Expr(ShapeExpr(std::move(shape))), dtype); }
Expr Zeros(Expr shape, DataType dtype) { return MakeCall("zeros", {std::move(shape)}, MakeInitAttrs(dtype)); }
Expr ZerosLike(Expr data, DataType dtype) { return MakeCall("zeros_like", {std::move(data)}, MakeInitAttrs(dtype)); }
Expr Arange(PrimExpr start, PrimExpr end, PrimExpr step, DataType dtype) {
  return MakeCall("arange", {PrimValue(std::move(start)), PrimValue(std::move(end)), PrimValue(std::move(step))},
                  MakeInitAttrs(dtype));
}
Expr Tril(Expr data, PrimExpr k) { return MakeCall("tril", {std::move(data), PrimValue(std::move(k))}); }
Expr Tril(Expr data, int64_t k) { return Tril(std::move(data), I64(k)); }
Expr Triu(Expr data, PrimExpr k) { return MakeCall("triu", {std::move(data), PrimValue(std::move(k))}); }
Expr Triu(Expr data, int64_t k) { return Triu(std::move(data), I64(k)); }
Expr Eye(PrimExpr n, PrimExpr m, PrimExpr k, DataType dtype) {
  return MakeCall("eye", {PrimValue(std::move(n)), PrimValue(std::move(m)), PrimValue(std::move(k))},
                  MakeInitAttrs(dtype));
}
Expr HammingWindow(PrimExpr window_size, bool periodic, double alpha, double beta, DataType dtype) {
  const auto real = [](double value) { return PrimValue(MakeConst(DataType::Float(64), value)); };
  return MakeCall("hamming_window",
                  {PrimValue(std::move(window_size)), PrimValue(periodic ? True() : False()), real(alpha), real(beta)},
                  MakeInitAttrs(dtype));
}
Expr EyeLike(Expr data, PrimExpr k, DataType dtype) {
  return MakeCall("eye_like", {std::move(data), PrimValue(std::move(k))}, MakeInitAttrs(dtype));
}

void InitAttrsNode::RegisterReflection() { refl::ObjectDef<InitAttrsNode>().def_ro("dtype", &InitAttrsNode::dtype); }
DEUTERON_REFLECTION() { InitAttrsNode::RegisterReflection(); }

}  // namespace deuteron::relax
