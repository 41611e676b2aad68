/// \file
/// What loop-level functions that patterns take by their names compute.
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/backend/cutlass/cutlass.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/support/number_text.h"
#include "deuteron/tir/functor.h"

namespace deuteron::backend::cutlass {
namespace {

std::string CudaTypeOf(DataType dtype) {
  const std::string name = dtype.ToString();
  if (name == "float16") return "cutlass::half_t";
  if (name == "float32") return "float";
  if (name == "bool") return name;
  for (const char* integer : {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}) {
    if (name == integer) return name + "_t";
  }
  throw Refusal{"a scalar of a dtype that CUDA has no type for"};
}

/// Scalar expressions as C++. Integer division rounds down for operands that are not negative, as indices are.
class CudaWriter {
 public:
  CudaWriter(std::unordered_map<const Object*, std::string> names, const Array<tir::Buffer>& params)
      : names_(std::move(names)), params_(params) {}

  std::string Write(const PrimExpr& expr) const {
    switch (expr->kind) {
      case ExprKind::kVar: {
        const auto it = names_.find(expr.get());
        Require(it != names_.end(), "a variable other than its iterators");
        return it->second;
      }
      case ExprKind::kIntImm:
        return "((" + CudaTypeOf(expr->dtype) + ")" + std::to_string(expr.as<tir::IntImmNode>()->value) + ")";
      case ExprKind::kFloatImm:
        return Number(expr.as<tir::FloatImmNode>());
      case ExprKind::kCast: {
        const PrimExpr& value = expr.as<tir::CastNode>()->value;
        // Halves are made from integers of all sizes by way of float.
        const bool half = expr->dtype == DataType::Float(16);
        return "((" + CudaTypeOf(expr->dtype) + ")" + (half ? "(float)" : "") + Write(value) + ")";
      }
      case ExprKind::kAdd:
        return Infix(expr, "+");
      case ExprKind::kSub:
        return Infix(expr, "-");
      case ExprKind::kMul:
        return Infix(expr, "*");
      case ExprKind::kDiv:
        return Infix(expr, "/");
      case ExprKind::kFloorDiv:
      case ExprKind::kFloorMod:
        return Divided(expr);
      case ExprKind::kEQ:
        return Infix(expr, "==");
      case ExprKind::kNE:
        return Infix(expr, "!=");
      case ExprKind::kLT:
        return Infix(expr, "<");
      case ExprKind::kLE:
        return Infix(expr, "<=");
      case ExprKind::kGT:
        return Infix(expr, ">");
      case ExprKind::kGE:
        return Infix(expr, ">=");
      case ExprKind::kSelect: {
        const auto* select = expr.as<tir::SelectNode>();
        return "(" + Write(select->condition) + " ? " + Write(select->true_value) + " : " + Write(select->false_value) +
               ")";
      }
      case ExprKind::kCall:
        return Bits(expr.as<tir::CallNode>());
      case ExprKind::kBufferLoad:
        return Load(expr.as<tir::BufferLoadNode>());
      case ExprKind::kStringImm:
      case ExprKind::kMod:
      case ExprKind::kMin:
      case ExprKind::kMax:
      case ExprKind::kAnd:
      case ExprKind::kOr:
      case ExprKind::kNot:
      case ExprKind::kLet:
      case ExprKind::kRamp:
      case ExprKind::kBroadcast:
      case ExprKind::kShuffle:
      case ExprKind::kProducerLoad:
      case ExprKind::kReduce:
        break;
    }
    throw Refusal{"an expression that unpacking has no use for"};
  }

 private:
  static std::string Number(const tir::FloatImmNode* imm) {
    Require(std::isfinite(imm->value), "a number that is not finite");
    return "((" + CudaTypeOf(imm->dtype) + ")" + NumberText(imm->value, "%.9g") + ")";
  }

  /// Operands are cast: C++ widens small integers, the IR does not.
  std::string Infix(const PrimExpr& expr, const char* op) const {
    const auto* binary = static_cast<const tir::BinaryNode*>(expr.get());
    return "((" + CudaTypeOf(expr->dtype) + ")(" + Write(binary->a) + " " + op + " " + Write(binary->b) + "))";
  }

  std::string Divided(const PrimExpr& expr) const {
    const auto* binary = static_cast<const tir::BinaryNode*>(expr.get());
    const auto divisor = AsConstInt(binary->b);
    Require(divisor && *divisor > 0, "a division by something else than a positive constant");
    Require(IsIndex(binary->a), "a division of values");
    return Infix(expr, expr->kind == ExprKind::kFloorDiv ? "/" : "%");
  }

  /// Whether it is made of iterators only, which are not negative.
  static bool IsIndex(const PrimExpr& expr) {
    switch (expr->kind) {
      case ExprKind::kVar:
        return true;
      case ExprKind::kIntImm:
        return expr.as<tir::IntImmNode>()->value >= 0;
      case ExprKind::kCast:
        return IsIndex(expr.as<tir::CastNode>()->value);
      case ExprKind::kAdd:
      case ExprKind::kMul:
      case ExprKind::kFloorDiv:
      case ExprKind::kFloorMod: {
        const auto* binary = static_cast<const tir::BinaryNode*>(expr.get());
        return IsIndex(binary->a) && IsIndex(binary->b);
      }
      default:
        return false;
    }
  }

  std::string Bits(const tir::CallNode* call) const {
    static const std::unordered_map<std::string, const char*> kOps = {{"tir.bitwise_and", "&"},
                                                                      {"tir.bitwise_or", "|"},
                                                                      {"tir.bitwise_xor", "^"},
                                                                      {"tir.shift_left", "<<"},
                                                                      {"tir.shift_right", ">>"}};
    const auto it = kOps.find(std::string(call->op->name));
    if (it == kOps.end() || call->args.size() != 2) throw Refusal{"a call of another function than those of bits"};
    return "((" + CudaTypeOf(call->dtype) + ")(" + Write(call->args[0]) + " " + it->second + " " +
           Write(call->args[1]) + "))";
  }

  std::string Load(const tir::BufferLoadNode* load) const {
    size_t param = 0;
    while (param < 2 && !params_[static_cast<int64_t>(param)].same_as(load->buffer)) ++param;
    Require(param < 2, "a load of something else than its two parameters");
    std::string at = "0";
    for (size_t i = 0; i < load->indices.size(); ++i) {
      const auto extent = AsConstInt(load->buffer->shape[static_cast<int64_t>(i)]);
      Require(extent.has_value(), "weights of symbolic shape");
      at = "(" + at + " * " + std::to_string(*extent) + " + " + Write(load->indices[static_cast<int64_t>(i)]) + ")";
    }
    return "in" + std::to_string(param) + "[" + at + "]";
  }

  std::unordered_map<const Object*, std::string> names_;
  const Array<tir::Buffer>& params_;
};

/// Blocks and stores of a function, in order.
struct Contents {
  std::vector<const tir::SBlockNode*> blocks;
  std::vector<const tir::BufferStoreNode*> stores;
};

Contents ContentsOf(const tir::PrimFunc& function) {
  Contents contents;
  tir::PostOrderVisit(function->body, [&](const ObjectRef& node) {
    if (const auto* store = node.as<tir::BufferStoreNode>()) contents.stores.push_back(store);
    if (const auto* block = node.as<tir::SBlockNode>(); block != nullptr && !block->iter_vars.empty())
      contents.blocks.push_back(block);
  });
  return contents;
}

}  // namespace

std::string DecodeExpression(const tir::PrimFunc& function) {
  const Array<tir::Buffer> params = tir::ParamBuffers(function);
  const Contents contents = ContentsOf(function);
  Require(params.size() == 3 && contents.blocks.size() == 1 && contents.stores.size() == 1,
          "weights that are unpacked by more than one block");
  const tir::BufferStoreNode* store = contents.stores[0];
  const tir::SBlockNode* block = contents.blocks[0];
  Require(store->buffer.same_as(params[2]) && store->indices.size() == 2 && block->iter_vars.size() == 2,
          "weights that are no matrix");
  std::unordered_map<const Object*, std::string> names;
  for (int64_t i = 0; i < 2; ++i) {
    const tir::IterVar& iterator = block->iter_vars[i];
    Require(iterator->var.same_as(store->indices[i]), "an unpacking that does not store element by element");
    names.emplace(iterator->var.get(), i == 0 ? "i" : "j");
  }
  return CudaWriter(std::move(names), params).Write(store->value);
}

namespace {

/// Sums, products, quotients, casts, roots and loads: what an RMS norm is made of.
class RMSNormReader {
 public:
  RMSNormReader(const Array<tir::Buffer>& params, double columns) : params_(params), columns_(columns) {}

  /// `divides`: the value stands under a fraction bar.
  void Read(const PrimExpr& expr, bool divides = false) {
    switch (expr->kind) {
      case ExprKind::kAdd: {
        const auto* add = expr.as<tir::AddNode>();
        ++sums_;
        for (const PrimExpr& operand : {add->a, add->b}) {
          if (const auto* imm = operand.as<tir::FloatImmNode>()) epsilon_ = imm->value;
        }
        Read(add->a, divides);
        return Read(add->b, divides);
      }
      case ExprKind::kMul:
      case ExprKind::kDiv: {
        const auto* binary = static_cast<const tir::BinaryNode*>(expr.get());
        const bool quotient = expr->kind == ExprKind::kDiv;
        for (const PrimExpr& operand : {binary->a, binary->b}) NoteMean(operand, quotient);
        Read(binary->a, divides);
        return Read(binary->b, quotient ? !divides : divides);
      }
      case ExprKind::kCast:
        return Read(expr.as<tir::CastNode>()->value, divides);
      case ExprKind::kCall: {
        const auto* call = expr.as<tir::CallNode>();
        const std::string name(call->op->name);
        Require(divides ? name == "tir.sqrt" : name == "tir.rsqrt", "a function other than the inverse of a root");
        ++roots_;
        return Read(call->args[0]);
      }
      case ExprKind::kBufferLoad: {
        loads_.insert(expr.as<tir::BufferLoadNode>()->buffer.get());
        return;
      }
      case ExprKind::kIntImm:
      case ExprKind::kFloatImm:
        return;
      default:
        throw Refusal{"an expression that no RMS norm has"};
    }
  }

  /// The sum of squares, the mean with the epsilon, and nothing else that is added.
  double Epsilon() const {
    Require(roots_ == 1 && sums_ == 2 && means_ == 1 && epsilon_.has_value(),
            "loops that are not those of an RMS norm");
    Require(loads_.count(params_[0].get()) != 0 && loads_.count(params_[1].get()) != 0,
            "an RMS norm that does not read both of its parameters");
    return *epsilon_;
  }

 private:
  /// Counts divisions by the number of columns.
  void NoteMean(const PrimExpr& operand, bool quotient) {
    PrimExpr value = operand;
    while (value->kind == ExprKind::kCast) value = value.as<tir::CastNode>()->value;
    double number = 0;
    if (const auto* imm = value.as<tir::FloatImmNode>()) number = imm->value;
    if (const auto* imm = value.as<tir::IntImmNode>()) number = static_cast<double>(imm->value);
    if (number == 0) return;
    const double wanted = quotient ? columns_ : 1 / columns_;
    Require(std::fabs(number - wanted) <= 1e-6 * wanted, "a factor that no RMS norm has");
    ++means_;
  }

  const Array<tir::Buffer>& params_;
  double columns_;
  std::unordered_set<const Object*> loads_;
  std::optional<double> epsilon_;
  int sums_ = 0;
  int roots_ = 0;
  int means_ = 0;
};

}  // namespace

double RMSNormEpsilon(const tir::PrimFunc& function) {
  const Array<tir::Buffer> params = tir::ParamBuffers(function);
  Require(params.size() == 3, "loops that are not those of an RMS norm");
  const auto columns = AsConstInt(params[0]->shape[static_cast<int64_t>(params[0]->shape.size()) - 1]);
  Require(columns && *columns > 0, "rows of symbolic length");
  RMSNormReader reader(params, static_cast<double>(*columns));
  const Contents contents = ContentsOf(function);
  for (const tir::BufferStoreNode* store : contents.stores) {
    // The beginning of a sum.
    const auto* imm = store->value.as<tir::FloatImmNode>();
    if (imm != nullptr && imm->value == 0) continue;
    reader.Read(store->value);
  }
  // The root is over the last axis.
  for (const tir::SBlockNode* block : contents.blocks) {
    size_t reductions = 0;
    for (const tir::IterVar& iterator : block->iter_vars) reductions += iterator->type == tir::IterVarType::kReduce;
    Require(reductions <= 1, "a sum over several axes");
    if (reductions == 1) {
      const auto extent = block->iter_vars[static_cast<int64_t>(block->iter_vars.size()) - 1]->dom->extent;
      Require(AsConstInt(extent) == columns, "a sum over another axis than the last");
    }
  }
  return reader.Epsilon();
}

}  // namespace deuteron::backend::cutlass
