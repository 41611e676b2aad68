#include "deuteron/backend/csource/csource.h"

#include <algorithm>

#include "deuteron/backend/source/c_source_codegen.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::backend::csource {
namespace {

using relax::Call;
using relax::Expr;
using relax::PatternCheckContext;
using relax::dpl::IsOp;
using relax::dpl::Wildcard;

// ----- What it takes.

/// A float32 tensor whose extents are all known.
bool IsStaticFloat32(const Expr& expr) {
  const auto* type = expr->ty.as<TensorTypeNode>();
  if (type == nullptr || type->dtype != DataType::Float(32) || !type->has_shape()) return false;
  const Array<PrimExpr> shape = *type->shape;
  return std::all_of(shape.begin(), shape.end(), [](const PrimExpr& dim) { return AsConstInt(dim).has_value(); });
}

Array<PrimExpr> ShapeOf(const Expr& expr) { return *expr->ty.as<TensorTypeNode>()->shape; }

/// Operands of an element-wise operator: of the shape of its result.
bool CheckElementwise(const PatternCheckContext& context) {
  const auto call = Downcast<Call>(context.matched_expr);
  return std::all_of(call->args.begin(), call->args.end(), [&](const Expr& arg) {
    return IsStaticFloat32(arg) && ShapeOf(arg).size() == ShapeOf(call).size() &&
           ExprEqual(ShapeOf(arg), ShapeOf(call));
  });
}

bool CheckMatmul(const PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context)) return false;
  return std::all_of(context.annotated_expr.begin(), context.annotated_expr.end(),
                     [](const auto& item) { return IsStaticFloat32(item.second) && ShapeOf(item.second).size() == 2; });
}

relax::FusionPattern Elementwise(const std::string& name, const std::string& op, int operands) {
  const auto pattern = operands == 1 ? IsOp(op)(Wildcard()) : IsOp(op)(Wildcard(), Wildcard());
  return {.name = name, .pattern = pattern, .check = CheckElementwise};
}

// ----- What it writes.

class Codegen : public CSourceCodegen {
 public:
  using CSourceCodegen::CSourceCodegen;

 private:
  std::string Composite(const std::string& name, const relax::Function& function) override {
    std::vector<Call> calls;
    for (const relax::BindingBlock& block : function->body->blocks) {
      for (const relax::Binding& binding : block->bindings) calls.push_back(Downcast<Call>(relax::BoundValue(binding)));
    }
    if (name == "csource.matmul" || name == "csource.matmul_relu") return Matmul(calls[0], calls.size() > 1);
    const std::string x = Operand(calls[0]->args[0]) + "[i]";
    std::string value = x + " > 0.0f ? " + x + " : 0.0f";
    if (calls[0]->args.size() == 2) value = x + Operator(relax::OpName(calls[0])) + Operand(calls[0]->args[1]) + "[i]";
    return "  for (int64_t i = 0; i < " + std::to_string(NumElements(calls[0]->ty)) + "; ++i) out[i] = " + value +
           ";\n";
  }

  static std::string Operator(const std::string& op) { return op == "add" ? " + " : op == "subtract" ? " - " : " * "; }

  /// Row by row: the inner loop runs along rows of the right operand and of the result.
  std::string Matmul(const Call& call, bool relu) {
    const auto extent = [](const Expr& expr, size_t axis) { return std::to_string(*AsConstInt(ShapeOf(expr)[axis])); };
    const std::string m = extent(call, 0), n = extent(call, 1), k = extent(call->args[0], 1);
    const std::string a = Operand(call->args[0]), b = Operand(call->args[1]);
    std::string text = "  for (int64_t i = 0; i < " + m + "; ++i) {\n    float* row = out + i * " + n + ";\n";
    text += "    for (int64_t j = 0; j < " + n + "; ++j) row[j] = 0.0f;\n";
    text += "    for (int64_t l = 0; l < " + k + "; ++l)\n";
    text += "      for (int64_t j = 0; j < " + n + "; ++j) row[j] += " + a + "[i * " + k + " + l] * " + b + "[l * " +
            n + " + j];\n";
    if (relu) text += "    for (int64_t j = 0; j < " + n + "; ++j) row[j] = row[j] > 0.0f ? row[j] : 0.0f;\n";
    return text + "  }\n";
  }
};

}  // namespace

std::vector<relax::FusionPattern> Patterns() {
  const auto lhs = Wildcard(), rhs = Wildcard();
  const auto matmul = IsOp("relax.matmul")(lhs, rhs);
  const Map<String, relax::dpl::DFPattern> operands = {{"lhs", lhs}, {"rhs", rhs}};
  return {
      {.name = "csource.matmul_relu",
       .pattern = IsOp("relax.nn.relu")(matmul),
       .annotation_patterns = operands,
       .check = CheckMatmul},
      {.name = "csource.matmul", .pattern = matmul, .annotation_patterns = operands, .check = CheckMatmul},
      Elementwise("csource.add", "relax.add", 2),
      Elementwise("csource.subtract", "relax.subtract", 2),
      Elementwise("csource.multiply", "relax.multiply", 2),
      Elementwise("csource.relu", "relax.nn.relu", 1),
  };
}

relax::ExternalFunction Generate(const relax::CodegenRequest& request) {
  return Codegen(request, "csource").Generate();
}

std::string Missing() { return CompilerProblem(SourceLanguage::kC); }

}  // namespace deuteron::backend::csource
