#include "deuteron/driver/verify.h"

#include <algorithm>

#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/script/round_trip.h"
#include "deuteron/target/target.h"

namespace deuteron {

std::vector<transform::Pass> VerifiedPasses(const CompileOptions& options) {
  const transform::PassContext context = MakeContext(options);
  std::vector<transform::Pass> passes = MakePasses(GetPipeline("default").passes);
  passes.erase(std::remove_if(passes.begin(), passes.end(),
                              [&](const transform::Pass& pass) { return !context.Enabled(pass->info); }),
               passes.end());
  return passes;
}

std::string DescribeOracle(bool interprets) {
  return interprets ? "the imported module, by the interpreter"
                    : "the imported module, by compiled code without fusion: it is too large for the interpreter";
}

std::vector<VerifiedStage> Verify(IRModule module, const VerifyOptions& options) {
  const Arguments arguments = RandomArguments(module, options.seed, options.symbolic_extent);
  // What the flags want to see of passes is the walk below, not what the results are compared with.
  CompileOptions plain = options.compile;
  plain.instruments.clear();
  const Oracle oracle(module, plain, options.symbolic_extent, options.most_interpreted);
  const auto tell = [&](const std::string& what) {
    if (options.progress) options.progress(what);
  };
  tell(DescribeOracle(oracle.interprets()));
  const std::vector<Tensor> expected = oracle.Run(module, arguments);
  const IRModule imported = module;
  const std::vector<DataType> through = LeastPrecisions(imported, options.compile.precision);
  const Target target = Target::Parse(options.compile.target, options.compile.threads);
  const TargetScope target_scope(target);
  const transform::PassContext::Scope scope(MakeContext(options.compile));

  std::vector<VerifiedStage> stages;
  const auto run_stage = [&](const std::string& name, const std::function<std::vector<Tensor>()>& compute) {
    VerifiedStage stage{.name = name};
    tell(name);
    try {
      const Difference difference = CompareResults(expected, compute(), options.tolerance, through);
      stage.error = difference.error;
      stage.problem = difference.problem;
    } catch (const ffi::Error& error) {
      // An internal error of a pass, with what shows it again.
      if (transform::PassFailure::Of(error).defined()) throw;
      stage.problem = error.kind() + ": " + error.message();
    }
    stages.push_back(stage);
    return stage.problem.empty();
  };
  std::vector<Tensor> last = expected;
  for (const transform::Pass& pass : VerifiedPasses(options.compile)) {
    const bool good = run_stage(pass->info.name, [&] {
      const IRModule before = module;
      module = pass(module);
      if (module.same_as(before)) return last;
      relax::CheckWellFormed(module);
      script::CheckRoundTrip(module);
      return last = oracle.Run(module, arguments);
    });
    if (!good) return stages;
  }
  run_stage("compiled code", [&] {
    std::vector<Tensor> tensors;
    for (const Any& argument : arguments) {
      for (Tensor& tensor : FlattenValue(argument)) tensors.push_back(std::move(tensor));
    }
    return Compile(imported, plain).Run(tensors);
  });
  return stages;
}

}  // namespace deuteron
