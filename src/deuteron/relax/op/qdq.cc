#include "deuteron/relax/op/qdq.h"

#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/op_shape.h"
#include "deuteron/tir/intrinsics.h"
#include "deuteron/topi/block_quantized.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

/// A scale or zero point is a scalar, or a vector as long as the axis.
void CheckParameter(const Call& call, const BlockBuilder& builder, size_t index) {
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* parameter = TensorArg(call, index);
  if (parameter->ndim > 1) {
    ThrowOpError(call, "its scale and zero point are scalars or vectors; one is " + Describe(GetRef<Type>(parameter)));
  }
  if (parameter->ndim != 1 || !parameter->has_shape() || !data->has_shape()) return;
  const size_t axis = AxisArg(call, AttrsOf<QuantizeAttrsNode>(call)->axis, data->ndim);
  const PrimExpr& given = (*parameter->shape)[0];
  if (!IsOne(given) && ProvablyDiffers(builder, given, {index, 0, (*data->shape)[axis]})) {
    ThrowOpError(call, "a vector of length " + Describe(given) + " for axis " + std::to_string(axis) + " of " +
                           Describe(*data->shape));
  }
}

Type InferQuantize(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 3);
  CheckParameter(call, builder, 1);
  CheckParameter(call, builder, 2);
  return WithDType(TensorArg(call, 0), AttrsOf<QuantizeAttrsNode>(call)->out_dtype);
}

/// The element of a scale or zero point for the data at `vars`.
PrimExpr ParameterAt(const te::Tensor& parameter, const Array<tir::Var>& vars, size_t axis) {
  if (parameter.ndim() == 0) return parameter({});
  return parameter({IsOne(parameter.shape()[0]) ? I64(0) : PrimExpr(vars[axis])});
}

size_t QuantizedAxis(const Call& call, int64_t ndim) {
  return ndim == 0 ? 0 : AxisArg(call, AttrsOf<QuantizeAttrsNode>(call)->axis, ndim);
}

Expr LegalizeQuantize(BlockBuilder& builder, const Call& call) {
  const DataType dtype = AttrsOf<QuantizeAttrsNode>(call)->out_dtype;
  return CallKernel(builder, call, "quantize", call->args, [&](const Array<te::Tensor>& args) {
    const size_t axis = QuantizedAxis(call, args[0].ndim());
    const DataType real = topi::AccumulatorType(args[0].dtype());
    return te::Compute(
        args[0].shape(),
        [&](const Array<tir::Var>& vars) {
          PrimExpr scaled = CastTo(real, args[0](topi::Indices(vars)));
          const PrimExpr scale = ParameterAt(args[1], vars, axis);
          const auto* known = scale.as<tir::FloatImmNode>();
          if (known == nullptr || known->value != 1) scaled = scaled / CastTo(real, scale);
          const PrimExpr number = dtype.is_float() ? scaled : CallIntrin("round", {scaled});
          const PrimExpr zero = ParameterAt(args[2], vars, axis);
          // Integers have no zero less than 0.
          const PrimExpr shifted = !dtype.is_float() && IsZero(zero) ? number : number + CastTo(real, zero);
          if (dtype.is_float() && dtype.bits() > 8) return CastTo(dtype, shifted);
          return CastTo(dtype, Max(Min(shifted, CastTo(real, MaxValue(dtype))), CastTo(real, MinValue(dtype))));
        },
        "quantized");
  });
}

Expr LegalizeDequantize(BlockBuilder& builder, const Call& call) {
  const DataType dtype = AttrsOf<QuantizeAttrsNode>(call)->out_dtype;
  return CallKernel(builder, call, "dequantize", call->args, [&](const Array<te::Tensor>& args) {
    const size_t axis = QuantizedAxis(call, args[0].ndim());
    const DataType real = topi::AccumulatorType(dtype);
    const DataType difference = args[0].dtype().is_float() ? real : DataType::Int(32);
    return te::Compute(
        args[0].shape(),
        [&](const Array<tir::Var>& vars) {
          const PrimExpr shifted =
              CastTo(difference, args[0](topi::Indices(vars))) - CastTo(difference, ParameterAt(args[2], vars, axis));
          return CastTo(dtype, CastTo(real, shifted) * CastTo(real, ParameterAt(args[1], vars, axis)));
        },
        "dequantized");
  });
}

Type InferFakeQuantize(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (!data->dtype.is_float() && !data->dtype.is_bfloat16())
    ThrowOpError(call, "takes floats; got " + Describe(call->args[0].ty()));
  if (data->ndim == 0) ThrowOpError(call, "takes rows of elements, not a scalar");
  if (AttrsOf<FakeQuantizeAttrsNode>(call)->block < 1) ThrowOpError(call, "its blocks have at least one element");
  return GetRef<Type>(data);
}

Expr LegalizeFakeQuantize(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "fake_quantize", call->args, [&](const Array<te::Tensor>& args) {
    return topi::FakeQuantize(args[0], AttrsOf<FakeQuantizeAttrsNode>(call)->block);
  });
}

Type InferByteTable(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* table = TensorArg(call, 1);
  const auto is_byte = [](DataType dtype) { return dtype.is_integer() && dtype.bits() == 8; };
  const bool has_256 = table->ndim == 1 && (!table->has_shape() || AsConstInt((*table->shape)[0]) == 256);
  if (!is_byte(data->dtype) || !is_byte(table->dtype) || !has_256) {
    ThrowOpError(call, "takes uint8 or int8, and a table of 256 of these; got " + Describe(call->args[0].ty()) +
                           " and " + Describe(call->args[1].ty()));
  }
  return WithDType(data, table->dtype);
}

Expr LegalizeByteTable(BlockBuilder& builder, const Call& call) {
  const auto* known = call->args[1].as<ConstantNode>();
  const DataType dtype = TensorArg(call, 1)->dtype;
  const auto as_byte = [](DataType of, PrimExpr x) {
    return x.dtype() == of ? x : CallIntrin("reinterpret", of, {std::move(x)});
  };
  if (known == nullptr || !known->data.IsContiguous()) {
    return CallKernel(builder, call, "byte_table", call->args, [&](const Array<te::Tensor>& args) {
      return te::Compute(
          args[0].shape(),
          [&](const Array<tir::Var>& vars) {
            const PrimExpr byte = as_byte(DataType::UInt(8), args[0](topi::Indices(vars)));
            return args[1]({CastTo(DataType::Int(64), byte)});
          },
          "looked_up");
    });
  }
  const auto* bytes = static_cast<const uint8_t*>(known->data.data_ptr()) + known->data.byte_offset();
  const std::span<const uint8_t, 256> table(bytes, 256);
  return CallKernel(builder, call, "byte_table", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    return te::Compute(
        args[0].shape(),
        [&](const Array<tir::Var>& vars) {
          return as_byte(dtype, tir::ByteTable(args[0](topi::Indices(vars)), table));
        },
        "looked_up");
  });
}

/// int32, `count` elements along the axis in each.
Type PackedType(const Call& call, const BlockBuilder& builder, int64_t count) {
  const TensorTypeNode* data = TensorArg(call, 0);
  const DataType dtype = DataType::Int(32);
  if (!data->has_shape()) return TensorType::WithNDim(data->ndim, dtype, data->vdevice);
  const size_t axis = AxisArg(call, AttrsOf<PackNeighboursAttrsNode>(call)->axis, data->ndim);
  Array<PrimExpr> shape = *data->shape;
  const PrimExpr extent = shape[static_cast<int64_t>(axis)];
  shape.Set(static_cast<int64_t>(axis), builder.analyzer().Simplify(FloorDiv(extent + (count - 1), count)));
  return TensorType(std::move(shape), dtype, data->vdevice);
}

Type InferPackI16x2(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* zero_point = TensorArg(call, 1);
  if (!data->dtype.is_integer() || !zero_point->dtype.is_integer() || zero_point->ndim != 0) {
    ThrowOpError(call, "takes integers, and a scalar integer as their zero point; got " + Describe(call->args[0].ty()) +
                           " and " + Describe(call->args[1].ty()));
  }
  return PackedType(call, builder, 2);
}

Type InferPackBytes(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const DataType dtype = TensorArg(call, 0)->dtype;
  if (!dtype.is_integer() || dtype.bits() != 8) {
    ThrowOpError(call, "takes uint8 or int8; got " + Describe(call->args[0].ty()));
  }
  return PackedType(call, builder, 4);
}

Type InferPackBf16x2(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  if (!TensorArg(call, 0)->dtype.is_float()) {
    ThrowOpError(call, "takes floats; got " + Describe(call->args[0].ty()));
  }
  return PackedType(call, builder, 2);
}

Type InferPackF16x2(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  if (const DataType dtype = TensorArg(call, 0)->dtype; dtype != DataType::Float(16) && dtype != DataType::Float(32)) {
    ThrowOpError(call, "takes float16 or float32; got " + Describe(call->args[0].ty()));
  }
  const TensorTypeNode* data = TensorArg(call, 0);
  const DataType dtype = DataType::Int(32);
  if (!data->has_shape()) return TensorType::WithNDim(data->ndim, dtype, data->vdevice);
  Array<PrimExpr> shape = *data->shape;
  const auto axis = static_cast<int64_t>(AxisArg(call, AttrsOf<PackNeighboursAttrsNode>(call)->axis, data->ndim));
  shape.Set(axis, builder.analyzer().Simplify(topi::PairsOfHalves(shape[axis]) * topi::kPartsOfHalf));
  return TensorType(std::move(shape), dtype, data->vdevice);
}

size_t PackedAxis(const Call& call, const te::Tensor& data) {
  return AxisArg(call, AttrsOf<PackNeighboursAttrsNode>(call)->axis, data.ndim());
}

Expr LegalizePackI16x2(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "pack_i16x2", call->args, [&](const Array<te::Tensor>& args) {
    return topi::PackI16x2(args[0], args[1], PackedAxis(call, args[0]));
  });
}
Expr LegalizePackU8x4(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "pack_u8x4", call->args,
                    [&](const Array<te::Tensor>& args) { return topi::PackU8x4(args[0], PackedAxis(call, args[0])); });
}
Expr LegalizePackI8x4(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "pack_i8x4", call->args,
                    [&](const Array<te::Tensor>& args) { return topi::PackI8x4(args[0], PackedAxis(call, args[0])); });
}
Expr LegalizePackBf16x2(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "pack_bf16x2", call->args, [&](const Array<te::Tensor>& args) {
    return topi::PackBf16x2(args[0], PackedAxis(call, args[0]));
  });
}
Expr LegalizePackF16x2(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "pack_f16x2", call->args,
                    [&](const Array<te::Tensor>& args) { return topi::PackF16x2(args[0], PackedAxis(call, args[0])); });
}

Expr MakeQuantize(const char* name, Expr data, Expr scale, Expr zero_point, int64_t axis, DataType out_dtype) {
  auto attrs = MakeNode<QuantizeAttrsNode>();
  attrs->out_dtype = out_dtype;
  attrs->axis = axis;
  return MakeCall(name, {std::move(data), std::move(scale), std::move(zero_point)}, Attrs(attrs));
}

Attrs PackAlong(int64_t axis) {
  auto attrs = MakeNode<PackNeighboursAttrsNode>();
  attrs->axis = axis;
  return Attrs(std::move(attrs));
}

}  // namespace

void CheckPacking(const Call& call, const std::string& packing, DataType result) {
  if (packing.empty()) return;
  const bool has_parts = packing == topi::kHalvesInParts, of_floats = packing == "bf16x2" || has_parts;
  if (packing != "i16x2" && packing != "u8i8x4" && packing != "i8x4" && packing != "u8i7x4" && !of_floats) {
    ThrowOpError(
        call,
        "its packing is none of \"\", \"i16x2\", \"u8i8x4\", \"i8x4\", \"u8i7x4\", \"bf16x2\" and \"f16x2\", but \"" +
            packing + "\"");
  }
  const DataType held = DataType::Int(32), weight = has_parts ? DataType::Float(16) : held;
  const bool are_held = TensorArg(call, 0)->dtype == held && TensorArg(call, 1)->dtype == weight;
  if (!are_held || (of_floats ? !result.is_float() : result != held)) {
    ThrowOpError(call, "operands in the packing \"" + packing + "\" are int32" + (has_parts ? " and float16" : "") +
                           ", and the result " + (of_floats ? "of floats" : "int32") + "; got " +
                           Describe(call->args[0].ty()) + ", " + Describe(call->args[1].ty()) + " and " +
                           result.ToString() + " (out_dtype)");
  }
}

std::vector<OpInfo> QdqOps() {
  constexpr const char* kAttrs = "deuteron.relax.QuantizeAttrs";
  constexpr const char* kPackAttrs = "deuteron.relax.PackNeighboursAttrs";
  return {
      {"quantize", {"data", "scale", "zero_point"}, kAttrs, InferQuantize, LegalizeQuantize},
      {"dequantize", {"data", "scale", "zero_point"}, kAttrs, InferQuantize, LegalizeDequantize},
      {"fake_quantize", {"data"}, "deuteron.relax.FakeQuantizeAttrs", InferFakeQuantize, LegalizeFakeQuantize},
      {"byte_table", {"data", "table"}, nullptr, InferByteTable, LegalizeByteTable},
      {"pack_i16x2", {"data", "zero_point"}, kPackAttrs, InferPackI16x2, LegalizePackI16x2},
      {"pack_u8x4", {"data"}, kPackAttrs, InferPackBytes, LegalizePackU8x4},
      {"pack_i8x4", {"data"}, kPackAttrs, InferPackBytes, LegalizePackI8x4},
      {"pack_bf16x2", {"data"}, kPackAttrs, InferPackBf16x2, LegalizePackBf16x2},
      {"pack_f16x2", {"data"}, kPackAttrs, InferPackF16x2, LegalizePackF16x2},
  };
}

Expr Quantize(Expr data, Expr scale, Expr zero_point, int64_t axis, DataType out_dtype) {
  return MakeQuantize("quantize", std::move(data), std::move(scale), std::move(zero_point), axis, out_dtype);
}
Expr Dequantize(Expr data, Expr scale, Expr zero_point, int64_t axis, DataType out_dtype) {
  return MakeQuantize("dequantize", std::move(data), std::move(scale), std::move(zero_point), axis, out_dtype);
}

Expr FakeQuantize(Expr data, int64_t block) {
  auto attrs = MakeNode<FakeQuantizeAttrsNode>();
  attrs->block = block;
  return MakeCall("fake_quantize", {std::move(data)}, Attrs(attrs));
}

Expr ByteTable(Expr data, Expr table) { return MakeCall("byte_table", {std::move(data), std::move(table)}, Attrs()); }

Expr PackI16x2(Expr data, Expr zero_point, int64_t axis) {
  return MakeCall("pack_i16x2", {std::move(data), std::move(zero_point)}, PackAlong(axis));
}
Expr PackU8x4(Expr data, int64_t axis) { return MakeCall("pack_u8x4", {std::move(data)}, PackAlong(axis)); }
Expr PackI8x4(Expr data, int64_t axis) { return MakeCall("pack_i8x4", {std::move(data)}, PackAlong(axis)); }
Expr PackBf16x2(Expr data, int64_t axis) { return MakeCall("pack_bf16x2", {std::move(data)}, PackAlong(axis)); }
Expr PackF16x2(Expr data, int64_t axis) { return MakeCall("pack_f16x2", {std::move(data)}, PackAlong(axis)); }

void QuantizeAttrsNode::RegisterReflection() {
  refl::ObjectDef<QuantizeAttrsNode>()
      .def_ro("out_dtype", &QuantizeAttrsNode::out_dtype)
      .def_ro("axis", &QuantizeAttrsNode::axis);
}
void FakeQuantizeAttrsNode::RegisterReflection() {
  refl::ObjectDef<FakeQuantizeAttrsNode>().def_ro("block", &FakeQuantizeAttrsNode::block);
}
void PackNeighboursAttrsNode::RegisterReflection() {
  refl::ObjectDef<PackNeighboursAttrsNode>().def_ro("axis", &PackNeighboursAttrsNode::axis);
}
DEUTERON_REFLECTION() {
  QuantizeAttrsNode::RegisterReflection();
  FakeQuantizeAttrsNode::RegisterReflection();
  PackNeighboursAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
