/// \file
/// `deuteron partition`: what libraries would take of a model. The module on standard output, a table on standard
/// error.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>

#include "deuteron/backend/backends.h"
#include "deuteron/backend/partition.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/pass_instruments.h"

namespace deuteron::tools {
namespace {

struct PartitionCommandOptions {
  ModelOptions model;
  std::vector<std::string> libraries{"dnnl"};
};

/// What TVM's partition_for_<library> give for libraries of GPU kernels; for others the passes up to the library's
/// functions when a model is compiled: batch norms folded and so on.
transform::Pass PartitionPass(const std::string& library) {
  if (const auto documented = backend::DocumentedPartition(library)) return *documented;
  std::vector<PassCall> calls;
  for (const char* pipeline : {"import", "library"}) {
    for (PassCall call : GetPipeline(pipeline).passes) {
      if (call.name == "RunCodegen") continue;
      if (call.name == "PartitionFor") call.arguments["backend"] = library;
      calls.push_back(std::move(call));
    }
  }
  return transform::Sequential(MakePasses(calls));
}

/// Of one library and pattern.
struct Taken {
  int64_t functions = 0;
  int64_t calls = 0;
  int64_t operators = 0;
};

using Table = std::map<std::pair<std::string, std::string>, Taken>;

int64_t CountCalls(const relax::SeqExpr& seq) {
  int64_t count = 0;
  relax::VisitValues(seq, [&](const relax::Expr& value) { count += value->kind == RelaxKind::kCall ? 1 : 0; });
  return count;
}

/// The composites in functions with the attribute Codegen, and how often these are called.
Table Summarize(const IRModule& module, int64_t* left) {
  std::unordered_map<const Object*, int64_t> calls;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<relax::Function>(func);
    if (!function.defined() || relax::IsSealed(function)) continue;
    relax::VisitValues(function->body, [&](const relax::Expr& value) {
      const auto* call = value.as<relax::CallNode>();
      if (call == nullptr) return;
      if (call->op->kind == RelaxKind::kGlobalVar) {
        ++calls[call->op.get()];
      } else if (call->op->kind == RelaxKind::kOp) {
        ++*left;
      }
    });
  }
  Table table;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<relax::Function>(func);
    if (!function.defined()) continue;
    const auto codegen = function->GetAttr<String>("Codegen");
    if (!codegen) continue;
    for (const relax::BindingBlock& block : function->body->blocks) {
      for (const relax::Binding& binding : block->bindings) {
        const auto composite = As<relax::Function>(relax::BoundValue(binding));
        if (!composite.defined()) continue;
        const auto name = composite->GetAttr<String>("Composite");
        Taken& taken = table[{std::string(*codegen), std::string(name.value_or("?"))}];
        ++taken.functions;
        taken.calls += calls[var.get()];
        taken.operators += calls[var.get()] * CountCalls(composite->body);
      }
    }
  }
  return table;
}

void RunPartition(const PartitionCommandOptions& options) {
  CompileOptions compile = ToCompileOptions(options.model);
  const TargetScope target_scope(Target::Parse(compile.target));
  std::vector<transform::Pass> passes;
  for (const std::string& library : options.libraries) passes.push_back(PartitionPass(library));
  const PassInstruments instruments(options.model, [](const IRModule& module) { return script::Print(module); });
  instruments.AddTo(&compile);
  const transform::PassContext context = MakeContext(compile);
  IRModule module = LoadModule(options.model);
  {
    transform::PassContext::Scope scope(context);
    module = transform::Sequential(passes)(std::move(module));
  }
  instruments.Report();
  const std::string text = script::Print(module);
  WriteOutput(text);
  // The table comes after it on a terminal too.
  FlushOutput();

  int64_t left = 0;
  const Table table = Summarize(module, &left);
  std::fprintf(stderr, "%-10s %-44s %9s %6s %9s\n", "library", "pattern", "functions", "calls", "operators");
  for (const auto& [key, taken] : table) {
    std::fprintf(stderr, "%-10s %-44s %9lld %6lld %9lld\n", key.first.c_str(), key.second.c_str(),
                 static_cast<long long>(taken.functions), static_cast<long long>(taken.calls),
                 static_cast<long long>(taken.operators));
  }
  std::fprintf(stderr, "%-10s %-44s %9s %6s %9lld\n", "none", "left to generated code", "", "",
               static_cast<long long>(left));
}

}  // namespace

void AddPartitionCommand(CLI::App& app) {
  auto options = std::make_shared<PartitionCommandOptions>();
  CLI::App* verb = app.add_subcommand("partition", "Show what libraries would take of a model");
  AddModelOptions(verb, &options->model);
  verb->remove_option(verb->get_option("--backend"));
  verb->add_option("--backend", options->libraries,
                   "a back end (dnnl, csource, cublas, cudnn, cutlass), or several separated by commas")
      ->delimiter(',')
      ->check(CLI::Validator(
          [](std::string& name) {
            backend::GetBackend(name);
            return std::string();
          },
          "LIBRARY"))
      ->allow_extra_args(false);
  verb->callback([options] { RunPartition(*options); });
}

}  // namespace deuteron::tools
