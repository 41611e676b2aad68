/// \file
/// QuantizedWeights: products with constant weights of few bits read these as they are.
///
///     w = dequantize(W, s, z)              y = call_tir(dense_quantized, (x, W', s', z'))
///     y = matmul(x, w)                →
///
/// W' is W in blocks of output columns, as PackWeights lays weights out, numbers of 4 bits two a byte, s' and z'
/// likewise; the kernel dequantises what it multiplies. Weights may also be written out, (cast(W) - z) * s, with scales
/// and zero points for blocks of rows of W (`repeat`), and be transposed.
///
/// Purpose: folded, such a weight takes four or eight times its bytes, of memory and on the way to each product with a
/// row of activations, which takes as long as that way.
///
/// Rows that are quantised to bytes by the blocks of rows of W that share a scale (`fake_quantize`) are multiplied as
/// such, the numbers without their scales, where the target multiplies bytes:
///
///     a = fake_quantize(x, block)         a = call_tir(quantize_blocks, (x,))
///     y = matmul(a, w)                →   y = call_tir(dense_blocks, (view(a[0]), a[1], a[2], W', s', z'))
///
/// What it must not do: touch products of activations that are quantised, too: those are products of integers. Small
/// weights: they stay in the cache. Products in the precision of a matrix unit (`precision`), which computes more rows
/// in the time of one; and what is for a library other than oneDNN, which looks for matmul.
///
/// Place: on operators, before MatmulToDense and FoldConstant, which would fold the weight.
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/manipulate_attrs.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/relax/transform/operators/quantized_weight.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/support/limits.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/topi/block_quantized.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

class WeightHolder : public EmittingRewriter {
 public:
  explicit WeightHolder(IRModule module) : EmittingRewriter(std::move(module)) {}

  void Update(const GlobalVar& var, const Function& function) {
    const Function rewritten = Run(function);
    values_.clear();
    rows_.clear();
    if (!rewritten.same_as(function)) builder_.UpdateFunction(var, RemoveAllUnused(rewritten, builder_.module()));
  }
  IRModule Finish() { return builder_.Finalize(); }

 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call != nullptr) values_[binding->var.get()] = BoundValue(binding);
    static const Op matmul = Op::Get("relax.matmul");
    if (call == nullptr || !call->op.same_as(matmul) || !builder_.InDataflowBlock())
      return SeqRewriter::RewriteBinding(binding, out);
    const Call product = Product(*call, binding->var, out);
    if (!product.defined()) return SeqRewriter::RewriteBinding(binding, out);
    out->push_back(WithValue(binding, product));
  }

  /// The value that a variable is bound to, as far as it is a call.
  const CallNode* CallOf(const Expr& expr) const {
    const auto it = values_.find(expr.get());
    return (it == values_.end() ? expr : it->second).as<CallNode>();
  }
  const CallNode* CallOf(const Expr& expr, const Op& op) const {
    const CallNode* call = CallOf(expr);
    return call != nullptr && call->op.same_as(op) ? call : nullptr;
  }

  /// A constant of at most two dimensions: as it is, converted, repeated, or with its axes exchanged.
  std::optional<Spread> FindSpread(const Expr& expr) const {
    static const Op astype = Op::Get("relax.astype"), repeat = Op::Get("relax.repeat");
    if (const auto* constant = expr.as<ConstantNode>()) {
      const auto dims = constant->data.shape();
      if (dims.size() > 2) return std::nullopt;
      Spread spread{GetRef<Constant>(constant)};
      std::copy(dims.begin(), dims.end(), spread.shape.end() - static_cast<int64_t>(dims.size()));
      spread.row_length = spread.shape[1];
      return spread;
    }
    if (const CallNode* call = CallOf(expr, astype)) {
      const auto* type = expr.ty().as<TensorTypeNode>();
      return type != nullptr && IsFloat(type->dtype) ? FindSpread(call->args[0]) : std::nullopt;
    }
    if (const CallNode* call = CallOf(expr, repeat)) {
      const auto* attrs = call->attrs.as<RepeatAttrsNode>();
      auto spread = FindSpread(call->args[0]);
      if (!spread || !attrs->axis || spread->data->data.ndim() != 2) return std::nullopt;
      const int64_t axis = *attrs->axis;
      if (axis < 0 || axis > 1) return std::nullopt;
      spread->repeats[axis] *= attrs->repeats;
      return spread;
    }
    if (const auto lengths = FirstElements(expr)) {
      auto spread = FindSpread(CallOf(expr)->args[0]);
      if (!spread || spread->data->data.ndim() != 2) return std::nullopt;
      for (const size_t axis : {0, 1}) spread->Shorten(axis, (*lengths)[axis]);
      return spread;
    }
    if (!IsTransposition(expr)) return std::nullopt;
    auto spread = FindSpread(CallOf(expr)->args[0]);
    if (spread) spread->Transpose();
    return spread;
  }

  /// How many rows and columns a matrix has, if it is the first ones of another.
  std::optional<std::array<int64_t, 2>> FirstElements(const Expr& expr) const {
    static const Op strided_slice = Op::Get("relax.strided_slice");
    const CallNode* call = CallOf(expr, strided_slice);
    const auto* type = expr.ty().as<TensorTypeNode>();
    if (call == nullptr || call->args.size() < 4 || type == nullptr || type->ndim != 2 || !type->has_shape())
      return std::nullopt;
    const auto are_all = [&](size_t arg, int64_t value) {
      if (arg >= call->args.size()) return true;
      const auto* given = call->args[static_cast<int64_t>(arg)].as<TupleNode>();
      return given != nullptr && std::all_of(given->fields.begin(), given->fields.end(), [&](const Expr& field) {
               const auto* prim = field.as<PrimValueNode>();
               return prim != nullptr && AsConstInt(prim->value) == value;
             });
    };
    const auto rows = AsConstInt((*type->shape)[0]), columns = AsConstInt((*type->shape)[1]);
    if (!rows || !columns || !are_all(2, 0) || !are_all(4, 1)) return std::nullopt;
    return std::array{*rows, *columns};
  }

  bool IsTransposition(const Expr& expr) const {
    static const Op permute_dims = Op::Get("relax.permute_dims");
    const CallNode* call = CallOf(expr, permute_dims);
    if (call == nullptr) return false;
    const auto* type = call->args[0].ty().as<TensorTypeNode>();
    return type != nullptr && type->ndim == 2 && PermutationOf(GetRef<Call>(call), 2)[0] == 1;
  }

  std::optional<Quantized> FindQuantized(const Expr& expr) const {
    static const Op multiply = Op::Get("relax.multiply"), subtract = Op::Get("relax.subtract"),
                    dequantize = Op::Get("relax.dequantize"), astype = Op::Get("relax.astype");
    if (IsTransposition(expr)) {
      auto quantized = FindQuantized(CallOf(expr)->args[0]);
      if (quantized) quantized->Transpose();
      return quantized;
    }
    // Narrower floats, which products widen again.
    if (const CallNode* call = CallOf(expr, astype)) return FindQuantized(call->args[0]);
    if (const CallNode* call = CallOf(expr, dequantize)) {
      const auto numbers = FindSpread(call->args[0]);
      auto scales = FindSpread(call->args[1]), zeros = FindSpread(call->args[2]);
      if (!numbers || !scales || !zeros) return std::nullopt;
      for (Spread* vector : {&*scales, &*zeros}) {
        if (vector->data->data.ndim() == 1 && call->attrs.as<QuantizeAttrsNode>()->axis % 2 == 0) vector->Transpose();
      }
      return Quantized{*numbers, *scales, zeros};
    }
    const CallNode* product = CallOf(expr, multiply);
    if (product == nullptr) return std::nullopt;
    const CallNode* difference = CallOf(product->args[0], subtract);
    const auto numbers = FindSpread(difference == nullptr ? product->args[0] : difference->args[0]);
    const auto scales = FindSpread(product->args[1]);
    if (!numbers || !scales) return std::nullopt;
    Quantized quantized{*numbers, *scales, std::nullopt};
    if (difference != nullptr) {
      quantized.zeros = FindSpread(difference->args[1]);
      if (!quantized.zeros) return std::nullopt;
    }
    return quantized;
  }

  /// The product with what is quantised in one kernel; null if it is none.
  Call Product(const CallNode& call, const Var& result, Bindings* out) {
    static const Op dequantize = Op::Get("relax.dequantize"), fake_quantize = Op::Get("relax.fake_quantize");
    const auto* data = call.args[0].ty().as<TensorTypeNode>();
    const auto* type = result.ty().as<TensorTypeNode>();
    if (CallOf(call.args[0], dequantize) != nullptr || data == nullptr || type == nullptr) return Call();
    const bool is_float = data->dtype.is_float() || data->dtype.is_bfloat16();
    if (!is_float || data->dtype.bits() > 32 || data->dtype.bits() < 16 || !data->has_shape() || data->ndim < 1)
      return Call();
    const auto weight = FindQuantized(call.args[1]);
    if (!weight || !IsHeld(*weight)) return Call();
    if (const CallNode* bytes = CallOf(call.args[0], fake_quantize)) {
      const int64_t block = bytes->attrs.as<FakeQuantizeAttrsNode>()->block;
      if (const auto numbers = AsBytes(*weight, block)) {
        return BytesProduct(*weight, *numbers, RowsInBytes(bytes->args[0], block, numbers->factor, call.span, out),
                            type->dtype, GetRef<TensorType>(type));
      }
    }
    return Pack(*weight, call, type->dtype, GetRef<TensorType>(type));
  }

  Call Pack(const Quantized& weight, const CallNode& call, DataType dtype, const TensorType& type) {
    const auto [depth, columns] = weight.numbers.shape;
    const tir::CostModel costs(Target::Current().machine);
    const int64_t length = costs.PanelVectors(columns) * costs.machine().Lanes(32);
    const DataType given(weight.numbers.data->data.dtype());
    const bool has_halves = given.bits() <= 4 || AreHalves(weight.numbers.data);
    const int64_t least = has_halves && given.is_int() ? -(int64_t{1} << (given.bits() - 1)) : 0;
    const bool has_groups = weight.scales.shape[0] != 1;
    const int64_t rows = has_groups ? weight.scales.repeats[0] : depth;
    const int64_t groups = (depth + rows - 1) / rows;
    const Expr numbers =
        Packed(weight.numbers, 0, [&] { return PackNumbers(weight.numbers, length, has_halves, least); });
    Array<Expr> args = {call.args[0], numbers};
    std::optional<double> zero = weight.zeros ? ZeroOf(*weight.zeros) : std::optional(0.0);
    const bool has_zeros = !zero.has_value();
    // One for each column is applied to the sums, but for a zero point.
    const bool is_by_column = !has_groups && weight.scales.repeats[1] == 1;
    if (is_by_column) {
      const Tensor data = CompactData(weight.scales.data);
      Tensor scales = runtime::AllocTensor({columns}, DataType::Float(32));
      for (int64_t c = 0; c < columns; ++c) {
        static_cast<float*>(scales.data_ptr())[c] = static_cast<float>(NumberAt(data, weight.scales.At(0, c)));
      }
      args.push_back(Constant(std::move(scales), weight.scales.data->span));
    } else {
      args.push_back(ByBlocks(weight.scales, groups, rows, columns, length));
    }
    if (has_zeros) {
      const Spread& zeros = *weight.zeros;
      const int64_t zero_groups = zeros.shape[0] == 1 ? 1 : groups;
      const bool are_bytes = DataType(zeros.data->data.dtype()) == DataType::UInt(8);
      args.push_back(ByBlocks(zeros, zero_groups, rows, columns, length, are_bytes, least));
    }
    const Call product = builder_.CallTE("dense_quantized", args, [&](const Array<te::Tensor>& tensors) {
      topi::QuantizedWeight quantized{
          .numbers = tensors[1], .has_halves = has_halves, .depth = depth, .scales = tensors[2], .rows = rows};
      if (has_zeros) quantized.zeros = tensors[3];
      quantized.zero = zero.value_or(0) - static_cast<double>(least);
      return Array<te::Tensor>{topi::DenseQuantized(tensors[0], quantized, columns, dtype)};
    });
    product->ty = type;
    return product;
  }

  /// Rows in words of four bytes, their scales, and the sums of their blocks.
  Array<Expr> RowsInBytes(const Expr& x, int64_t block, double factor, const Span& span, Bindings* out) {
    auto [it, inserted] = rows_.try_emplace({x.get(), block, factor});
    if (!inserted) return it->second;
    const bool has_sums = factor != 0;
    const Call quantized = builder_.CallTE("quantize_blocks", {x}, [&](const Array<te::Tensor>& tensors) {
      const topi::BlockBytes bytes = topi::QuantizeBlocks(tensors[0], block, factor);
      return has_sums ? Array<te::Tensor>{bytes.bytes, bytes.scales, bytes.sums}
                      : Array<te::Tensor>{bytes.bytes, bytes.scales};
    });
    const Var tuple = Emit(quantized, span, out);
    const auto item = [&](int64_t i) { return Emit(TupleGetItem(tuple, i), span, out); };
    const Var bytes = item(0);
    Array<PrimExpr> shape = *bytes.ty().as<TensorTypeNode>()->shape;
    shape.Set(std::ssize(shape) - 1, I64(block / 4));
    it->second = {Emit(MemoryView(bytes, shape, DataType::Int(32)), span, out), item(1)};
    if (has_sums) it->second.push_back(item(2));
    return it->second;
  }

  Call BytesProduct(const Quantized& weight, const WeightBytes& bytes, Array<Expr> args, DataType dtype,
                    const TensorType& type) {
    const auto [depth, columns] = weight.numbers.shape;
    const int64_t length = Target::Current().machine.Lanes(32);
    const int64_t groups = (depth + bytes.block - 1) / bytes.block;
    const bool has_sums = args.size() > 2;
    args.push_back(Packed(weight.numbers, bytes.block, [&] { return PackWords(weight.numbers, bytes, length); }));
    args.push_back(ByBlocks(weight.scales, groups, bytes.block, columns, length));
    const bool has_zeros = weight.zeros && !ZeroOf(*weight.zeros);
    if (has_zeros) {
      const Spread& zeros = *weight.zeros;
      const bool are_bytes = DataType(zeros.data->data.dtype()) == DataType::UInt(8) && bytes.least <= 0;
      const int64_t zero_groups = zeros.shape[0] == 1 ? 1 : groups;
      args.push_back(ByBlocks(zeros, zero_groups, bytes.block, columns, length, are_bytes, bytes.least));
    }
    const Call product = builder_.CallTE("dense_blocks", args, [&](const Array<te::Tensor>& tensors) {
      const int64_t first = has_sums ? 3 : 2;
      topi::BlockWeight packed{.numbers = tensors[first],
                               .has_halves = bytes.has_halves,
                               .has_sign = bytes.has_sign,
                               .block = bytes.block,
                               .scales = tensors[first + 1],
                               .zeros = has_zeros ? tensors[first + 2] : te::Tensor()};
      const te::Tensor sums = has_sums ? tensors[2] : te::Tensor();
      return Array<te::Tensor>{topi::CastBack(topi::DenseBlocks(tensors[0], tensors[1], sums, packed, columns), dtype)};
    });
    product->ty = type;
    return product;
  }

  /// `block`: of words of bytes, the rows of a block; else 0.
  template <typename Make>
  Expr Packed(const Spread& numbers, int64_t block, const Make& make) {
    auto [it, inserted] = packed_.try_emplace({numbers.data.get(), numbers.is_transposed, block});
    if (inserted) {
      CheckBudget("QuantizedWeights");
      it->second = make();
      LetGoOfData(numbers.data);
    }
    return it->second;
  }

  /// Calls by the variables that they are bound to.
  std::unordered_map<const Object*, Expr> values_;
  /// One weight may feed several products.
  std::map<std::tuple<const Object*, bool, int64_t>, Constant> packed_;
  /// One row in bytes may be multiplied by several weights.
  std::map<std::tuple<const Object*, int64_t, double>, Array<Expr>> rows_;
};

}  // namespace

Pass QuantizedWeights() {
  return transform::ModulePass(
      {.name = "QuantizedWeights", .opt_level = 1}, [](IRModule module, const transform::PassContext& context) {
        const std::string library = context.GetString("relax.PartitionFor.backend");
        const bool looks_for_matmul = !library.empty() && library != "none" && library != "auto" && library != "dnnl";
        const bool is_narrow = transform::ProductPrecision(context) != DataType::Float(32);
        if (looks_for_matmul || is_narrow || !transform::MergesBeyondFuseOps(context)) return module;
        const IRModule original = module;
        WeightHolder holder(std::move(module));
        for (const auto& [var, function] : original->functions) {
          const auto* graph = function.as<FunctionNode>();
          if (graph != nullptr && !IsSealed(function)) holder.Update(var, GetRef<Function>(graph));
        }
        return holder.Finish();
      });
}

}  // namespace deuteron::relax
