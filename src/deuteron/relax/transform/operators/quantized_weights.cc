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
/// What it must not do: touch products of activations that are quantised, too: those are products of integers. Small
/// weights: they stay in the cache. Products in the precision of a matrix unit (`precision`), which computes more rows
/// in the time of one; and what is for a library other than oneDNN, which looks for matmul.
///
/// Place: on operators, before MatmulToDense and FoldConstant, which would fold the weight.
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/manipulate_attrs.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/support/limits.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

constexpr int64_t kLeastElements = int64_t{1} << 14;

/// A constant matrix, each element of which stands for `repeats` rows and columns of a larger one. Of one row, or one
/// column, or a scalar: for all.
struct Spread {
  Constant data;
  std::array<int64_t, 2> shape{1, 1};
  std::array<int64_t, 2> repeats{1, 1};

  void Transpose() {
    std::swap(shape[0], shape[1]);
    std::swap(repeats[0], repeats[1]);
    is_transposed = !is_transposed;
  }
  /// Whether it covers a matrix of that shape.
  bool Covers(const std::array<int64_t, 2>& whole) const {
    for (const size_t axis : {0, 1}) {
      if (shape[axis] != 1 && shape[axis] * repeats[axis] != whole[axis]) return false;
    }
    return true;
  }
  /// Its element at a place of the larger one.
  int64_t At(int64_t row, int64_t column) const {
    const int64_t i = shape[0] == 1 ? 0 : row / repeats[0], j = shape[1] == 1 ? 0 : column / repeats[1];
    return is_transposed ? j * shape[0] + i : i * shape[1] + j;
  }
  bool is_transposed = false;
};

/// A weight as numbers of (depth, columns), what is subtracted of them and what multiplies the rest.
struct Quantized {
  Spread numbers, scales;
  std::optional<Spread> zeros;

  void Transpose() {
    numbers.Transpose();
    scales.Transpose();
    if (zeros) zeros->Transpose();
  }
};

bool IsSmallInteger(DataType dtype) { return (dtype.is_int() || dtype.is_uint()) && dtype.bits() <= 8; }

class WeightHolder : public EmittingRewriter {
 public:
  explicit WeightHolder(IRModule module) : EmittingRewriter(std::move(module)) {}

  void Update(const GlobalVar& var, const Function& function) {
    const Function rewritten = Run(function);
    values_.clear();
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
    const Call product = Product(*call, binding->var);
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
    if (!IsTransposition(expr)) return std::nullopt;
    auto spread = FindSpread(CallOf(expr)->args[0]);
    if (spread) spread->Transpose();
    return spread;
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
  Call Product(const CallNode& call, const Var& result) {
    static const Op dequantize = Op::Get("relax.dequantize");
    const auto* data = call.args[0].ty().as<TensorTypeNode>();
    const auto* type = result.ty().as<TensorTypeNode>();
    if (CallOf(call.args[0], dequantize) != nullptr || data == nullptr || type == nullptr) return Call();
    const bool is_float = data->dtype.is_float() || data->dtype.is_bfloat16();
    if (!is_float || data->dtype.bits() > 32 || data->dtype.bits() < 16 || !data->has_shape() || data->ndim < 1)
      return Call();
    const auto weight = FindQuantized(call.args[1]);
    if (!weight || !IsHeld(*weight)) return Call();
    return Pack(*weight, call, type->dtype, GetRef<TensorType>(type));
  }

  /// Whether kernels read a weight of that form.
  static bool IsHeld(const Quantized& weight) {
    const Spread& numbers = weight.numbers;
    if (numbers.repeats != std::array<int64_t, 2>{1, 1} || numbers.data->data.ndim() != 2) return false;
    if (!IsSmallInteger(DataType(numbers.data->data.dtype()))) return false;
    const DataType scale(weight.scales.data->data.dtype());
    if (!scale.is_float() && !scale.is_bfloat16()) return false;
    if (numbers.shape[0] * numbers.shape[1] < kLeastElements || !weight.scales.Covers(numbers.shape)) return false;
    // A scale for each row multiplies the data.
    if (weight.scales.shape[0] != 1 && weight.scales.repeats[0] == 1) return false;
    if (!weight.zeros) return true;
    const Spread& zeros = *weight.zeros;
    if (!zeros.Covers(numbers.shape)) return false;
    return zeros.shape[0] == 1 || (weight.scales.shape[0] != 1 && zeros.repeats[0] == weight.scales.repeats[0]);
  }

  static double NumberAt(const Tensor& tensor, int64_t at) {
    const DLDataType dtype = tensor.dtype();
    const auto* data = static_cast<const char*>(tensor.data_ptr()) + at * ElementBytes(dtype);
    return IsFloat(dtype) ? LoadFloat(data, dtype) : static_cast<double>(LoadInteger(data, dtype));
  }

  /// The zero point, where all are the same.
  static std::optional<double> ZeroOf(const Spread& zeros) {
    const Tensor data = CompactData(zeros.data);
    if (data.numel() == 0) return std::nullopt;
    const double first = NumberAt(data, 0);
    for (int64_t i = 1; i < data.numel(); ++i) {
      if (NumberAt(data, i) != first) return std::nullopt;
    }
    return first;
  }

  /// (blocks of columns, `groups` of `rows` rows, `length` columns) of what is spread, `least` less; zeros beyond the
  /// columns.
  template <typename T>
  static Constant Blocks(const Spread& spread, int64_t groups, int64_t rows, int64_t columns, int64_t length,
                         DataType dtype, int64_t least = 0) {
    const int64_t blocks = (columns + length - 1) / length;
    Tensor packed = runtime::AllocTensor({blocks, groups, length}, dtype);
    const Tensor data = CompactData(spread.data);
    auto* to = static_cast<T*>(packed.data_ptr());
    for (int64_t block = 0; block < blocks; ++block) {
      for (int64_t group = 0; group < groups; ++group) {
        for (int64_t c = block * length; c < (block + 1) * length; ++c) {
          *to++ = c < columns ? static_cast<T>(NumberAt(data, spread.At(group * rows, c)) - least) : T{0};
        }
      }
    }
    return Constant(std::move(packed), spread.data->span);
  }

  /// Whether bytes hold numbers of 4 bits.
  static bool AreHalves(const Constant& numbers) {
    if (DataType(numbers->data.dtype()) != DataType::UInt(8)) return false;
    const Tensor data = CompactData(numbers);
    const auto* bytes = static_cast<const uint8_t*>(data.data_ptr());
    uint8_t bits = 0;
    for (int64_t i = 0; i < data.numel(); ++i) bits |= bytes[i];
    return bits <= 15;
  }

  /// The numbers in such blocks, `least` less: of 4 bits two a byte.
  static Constant PackNumbers(const Spread& numbers, int64_t length, bool has_halves, int64_t least) {
    const auto [depth, columns] = numbers.shape;
    const int64_t blocks = (columns + length - 1) / length, rows = has_halves ? (depth + 1) / 2 : depth;
    const DLDataType dtype = numbers.data->data.dtype();
    Tensor packed = runtime::AllocTensor({blocks, rows, length},
                                         has_halves || dtype.code == kDLUInt ? DataType::UInt(8) : DataType::Int(8));
    const Tensor data = CompactData(numbers.data);
    const auto* from = static_cast<const char*>(data.data_ptr());
    auto* to = static_cast<uint8_t*>(packed.data_ptr());
    const auto number = [&](int64_t row, int64_t column) {
      if (row >= numbers.shape[0] || column >= numbers.shape[1]) return uint8_t{0};
      return static_cast<uint8_t>(LoadInteger(from + numbers.At(row, column), dtype) - least);
    };
    MakeInParallel(blocks, blocks * rows * length, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        for (int64_t row = 0; row < rows; ++row) {
          uint8_t* const out = to + (block * rows + row) * length;
          for (int64_t c = 0; c < length; ++c) {
            const int64_t column = block * length + c;
            out[c] = has_halves ? static_cast<uint8_t>(number(2 * row, column) | number(2 * row + 1, column) << 4)
                                : number(row, column);
          }
        }
      }
    });
    return Constant(std::move(packed), numbers.data->span);
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
    const Expr numbers = Packed(weight.numbers.data, weight.numbers.is_transposed,
                                [&] { return PackNumbers(weight.numbers, length, has_halves, least); });
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
      args.push_back(Blocks<float>(weight.scales, groups, rows, columns, length, DataType::Float(32)));
    }
    if (has_zeros) {
      Spread zeros = *weight.zeros;
      const int64_t zero_groups = zeros.shape[0] == 1 ? 1 : groups;
      args.push_back(DataType(zeros.data->data.dtype()) == DataType::UInt(8)
                         ? Blocks<uint8_t>(zeros, zero_groups, rows, columns, length, DataType::UInt(8), least)
                         : Blocks<float>(zeros, zero_groups, rows, columns, length, DataType::Float(32), least));
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

  template <typename Make>
  Expr Packed(const Constant& data, bool is_transposed, const Make& make) {
    auto [it, inserted] = packed_.try_emplace({data.get(), is_transposed});
    if (inserted) {
      CheckBudget("QuantizedWeights");
      it->second = make();
      LetGoOfData(data);
    }
    return it->second;
  }

  /// Calls by the variables that they are bound to.
  std::unordered_map<const Object*, Expr> values_;
  /// One weight may feed several products.
  std::map<std::pair<const Object*, bool>, Constant> packed_;
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
