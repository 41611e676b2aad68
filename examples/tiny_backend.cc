/// \file
/// docs/adding-a-backend.md as a program: a back end of one pattern, written in C.
#include <cstdio>

#include "deuteron/backend/backends.h"
#include "deuteron/backend/source/c_source_codegen.h"
#include "deuteron/deuteron.h"
#include "deuteron/driver/equivalence.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"

namespace {

using namespace deuteron;  // NOLINT(google-build-using-namespace): as its user would write

bool CheckHypot(const relax::PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context)) return false;
  const auto* result = context.matched_expr->ty.as<TensorTypeNode>();
  if (result == nullptr || result->dtype != DataType::Float(32) || !result->has_shape()) return false;
  for (const PrimExpr& dim : *result->shape) {
    if (!AsConstInt(dim)) return false;
  }
  for (const auto& [name, operand] : context.annotated_expr) {
    const auto* type = operand->ty.as<TensorTypeNode>();
    if (type == nullptr || !type->has_shape() || !ExprEqual(*type->shape, *result->shape)) return false;
  }
  return true;
}

std::vector<relax::FusionPattern> HypotPatterns() {
  using relax::dpl::IsOp;
  const auto x = relax::dpl::Wildcard(), y = relax::dpl::Wildcard();
  const auto squares = IsOp("relax.add")(IsOp("relax.multiply")(x, x), IsOp("relax.multiply")(y, y));
  return {{.name = "tiny.hypot",
           .pattern = IsOp("relax.sqrt")(squares),
           .annotation_patterns = {{"x", x}, {"y", y}},
           .check = CheckHypot}};
}

class HypotCodegen : public backend::CSourceCodegen {
 public:
  using CSourceCodegen::CSourceCodegen;

 private:
  /// The body of a C function from in0, in1, … to out.
  std::string Composite(const std::string& name, const relax::Function& function) override {
    // Roles of parameters are recovered from the body: its first two bindings are the squares.
    std::vector<relax::Call> calls;
    for (const relax::BindingBlock& block : function->body->blocks) {
      for (const relax::Binding& binding : block->bindings) {
        calls.push_back(Downcast<relax::Call>(binding.as<relax::VarBindingNode>()->value));
      }
    }
    const std::string x = Operand(calls[0]->args[0]), y = Operand(calls[1]->args[0]);
    const std::string count = std::to_string(backend::NumElements(calls.back()->ty));
    return "  for (int64_t i = 0; i < " + count + "; ++i) out[i] = hypotf(" + x + "[i], " + y + "[i]);\n";
  }
};

relax::ExternalFunction GenerateHypot(const relax::CodegenRequest& request) {
  return HypotCodegen(request, "tiny").Generate();
}

std::string MissingForHypot() {
  return backend::FindCompiler(backend::SourceLanguage::kC).empty() ? "there is no C compiler" : "";
}

void RegisterTinyBackend() {
  backend::RegisterBackend({
      .name = "tiny",
      .description = "the length of vectors of two, by C's hypotf",
      .partition = [] { return relax::FuseOpsByPattern(HypotPatterns()); },
      .codegen = {.generate = GenerateHypot, .missing = MissingForHypot},
  });
}

IRModule LengthsModule() {
  return script::ParseModule(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            a = R.multiply(x, x)
            b = R.multiply(y, y)
            c = R.add(a, b)
            d = R.sqrt(c)
            gv = R.exp(d)
            R.output(gv)
        return gv
)");
}

}  // namespace

int main() {
  RegisterTinyBackend();
  IRModule module = LengthsModule();
  std::printf("%s", script::Print(backend::GetBackend("tiny").partition()(module)).c_str());

  const Executable executable = Compile(module, {.backend = "tiny"});
  std::printf("\n# functions of the back end: %zu, kernels left: %d\n",
              executable.runtime()->program().externals.size(), static_cast<int>(executable.num_kernels()));
  const Arguments arguments = RandomArguments(module, 1, 1);
  std::vector<Tensor> inputs;
  for (const Any& argument : arguments) inputs.push_back(argument.cast<Tensor>());
  const Difference difference = CompareResults(Interpret(module, arguments), executable.Run(inputs), 1e-6);
  std::printf("# as the interpreter computes it: %s\n",
              difference.problem.empty() ? "yes" : difference.problem.c_str());
  return difference.problem.empty() ? 0 : 1;
}
