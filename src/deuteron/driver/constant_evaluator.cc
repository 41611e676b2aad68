#include "deuteron/driver/constant_evaluator.h"

#include <memory>
#include <unordered_map>

#include "deuteron/codegen/machine_code.h"
#include "deuteron/driver/host_context.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/runtime/kernel_errors.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron {
namespace {

/// Above this many block instances, compiling (tens of milliseconds) is quicker than interpreting.
constexpr double kLargeWork = 1 << 16;

double Instances(const tir::PrimFunc& kernel) {
  if (!tir::HasRootBlock(kernel)) return kLargeWork;
  double total = 0;
  for (const tir::SBlockRealize& realize : tir::AnalyzeScope(tir::RootBlock(kernel)->body).blocks) {
    total += tir::NumInstances(realize->block);
  }
  return total;
}

class Evaluator {
 public:
  std::vector<Tensor> Run(const tir::PrimFunc& kernel, const std::vector<Tensor>& inputs,
                          const std::vector<relax::OutputSpec>& outputs) {
    std::vector<Tensor> tensors = inputs;
    for (const relax::OutputSpec& output : outputs) tensors.push_back(runtime::AllocTensor(output.shape, output.dtype));
    const bool is_done =
        Instances(kernel) < kLargeWork ? RunInterpreted(kernel, tensors) : RunCompiled(kernel, &tensors);
    // What the elements forbid (a division of integers by zero, say) is an error of the run, if it comes there.
    if (!is_done) return {};
    return {tensors.begin() + static_cast<int64_t>(inputs.size()), tensors.end()};
  }

 private:
  static bool RunInterpreted(const tir::PrimFunc& kernel, const std::vector<Tensor>& tensors) {
    try {
      interpreter::RunPrimFunc(kernel, tensors);
      return true;
    } catch (const ffi::Error& error) {
      if (error.kind() != "UsageError") throw;
      return false;
    }
  }

  bool RunCompiled(const tir::PrimFunc& kernel, std::vector<Tensor>* tensors) {
    auto& [owner, code] = compiled_[kernel.get()];
    if (code == nullptr) {
      owner = kernel;
      Target target = Target::Current();
      if (!target.WhyNotHere().empty()) target = Target::Host();  // constants are computed on this machine
      IRModule module = IRModule::Empty();
      module.Update(GlobalVar("kernel"), tir::LowerPrimFunc(tir::ApplyScheduleRules(kernel, target).func, target));
      code = std::make_shared<codegen::CompiledKernels>(
          codegen::CompileInMemory(module, target, {.expected_calls = {{"kernel", 1}}}));
    }
    HostContext host(runtime::UsableThreads());
    std::vector<Tensor> aligned;
    for (const Tensor& tensor : *tensors) {
      aligned.push_back(
          runtime::IsKernelReady(*tensor.GetDLTensorPtr()) ? tensor : runtime::CopyCompact(*tensor.GetDLTensorPtr()));
    }
    if (host.Run(code->Lookup("kernel"), aligned)) return true;
    if (host.error().starts_with(runtime::kOutOfMemory)) DEUTERON_THROW(MemoryError) << host.error();
    if (host.error().starts_with(runtime::kOutOfBounds)) DEUTERON_THROW(InternalError) << host.error();
    return false;
  }

  std::unordered_map<const Object*, std::pair<tir::PrimFunc, std::shared_ptr<codegen::CompiledKernels>>> compiled_;
};

}  // namespace

relax::ConstantEvaluator MakeConstantEvaluator() {
  auto evaluator = std::make_shared<Evaluator>();
  return [evaluator](const tir::PrimFunc& kernel, const std::vector<Tensor>& inputs,
                     const std::vector<relax::OutputSpec>& outputs) { return evaluator->Run(kernel, inputs, outputs); };
}

}  // namespace deuteron
