/// \file
/// PrepareExternals: what plugins make of translated functions on this machine.
///
/// Constants are held as the library reads them, once and not twice, whatever number of functions share them. The
/// memory that calls need besides becomes their last argument, so that it lies among the tensors of the function that
/// calls: the library's intermediates take the place of those that are dead by then, or not needed yet.
///
///     alloc = builtin.alloc_tensor(…)              alloc = builtin.alloc_tensor(…)
///     "f"(x, alloc)                           →    workspace = builtin.alloc_tensor((bytes,), "uint8")
///                                                  "f"(x, alloc, workspace)
///
/// It must not touch what is compiled for another machine: what plugins say here does not hold there.
///
/// Place: between CallTIRRewrite, which makes destinations explicit, and StaticPlanBlockMemory.
#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/transform/library/library_codegen.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"

namespace deuteron::relax {
namespace {

/// Constants that functions share and libraries have packed in the same way are held once.
class SharedPacks {
 public:
  /// What `source` became: what it became before, if that is the same.
  Tensor Shared(const Tensor& source, const Tensor& packed) {
    if (packed.same_as(source)) return packed;
    auto [known, last] = packs_.equal_range(source.GetDLTensorPtr());
    for (; known != last; ++known) {
      if (AreSame(known->second, packed)) return known->second;
    }
    packs_.emplace(source.GetDLTensorPtr(), packed);
    return packed;
  }

 private:
  static bool AreSame(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || !std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()))
      return false;
    const auto bytes = static_cast<size_t>(runtime::TensorBytes({a.shape().begin(), a.shape().end()}, a.dtype()));
    return a.IsContiguous() && b.IsContiguous() && std::memcmp(DataOf(a), DataOf(b), bytes) == 0;
  }
  static const char* DataOf(const Tensor& tensor) {
    return static_cast<const char*>(tensor.data_ptr()) + tensor.byte_offset();
  }

  std::unordered_multimap<const void*, Tensor> packs_;
};

/// Bytes by the symbols of functions.
using Workspaces = std::unordered_map<std::string, int64_t>;

class WorkspaceAllocator : public SeqRewriter {
 public:
  explicit WorkspaceAllocator(const Workspaces& workspaces) : workspaces_(workspaces) {}

 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto* callee = call == nullptr ? nullptr : call->op.as<ExternFuncNode>();
    const auto it = callee == nullptr ? workspaces_.end() : workspaces_.find(std::string(callee->global_symbol));
    if (it == workspaces_.end()) return SeqRewriter::RewriteBinding(binding, out);
    const TensorType type({I64(it->second)}, DataType::UInt(8));
    const Call alloc = BuiltinAllocTensor(type);
    alloc->ty = type;
    const Var workspace("workspace", type, binding->span);
    out->push_back(VarBinding(workspace, alloc, binding->span));
    Array<Expr> args = call->args;
    args.push_back(workspace);
    const Call replaced(call->op, args, call->attrs, call->ty_args, call->span);
    replaced->ty = call->ty;
    out->push_back(WithValue(binding, replaced));
  }

  const Workspaces& workspaces_;
};

IRModule Prepare(IRModule module, int threads) {
  std::vector<ExternalFunction> functions = ExternalFunctions(module);
  const auto constants = ExternalConstants(module);
  std::vector<ExternalFunction*> packing;
  std::vector<std::vector<Tensor>> tensors;
  std::vector<size_t> sizes;
  for (ExternalFunction& function : functions) {
    if (function.packed || !runtime::PacksConstants(function.plugin)) continue;
    packing.push_back(&function);
    sizes.push_back(function.code.size());
    tensors.emplace_back();
    for (const std::string& name : function.constants) {
      const auto it = constants.find(name);
      if (it == constants.end())
        DEUTERON_THROW(ModelError) << function.symbol << ": its constant " << name << " is missing";
      tensors.back().push_back(it->second);
    }
  }
  if (packing.empty()) return module;
  std::vector<runtime::PackedExternal> packed(packing.size());
  runtime::PrepareEach(sizes, threads, [&](size_t i) {
    const ExternalFunction& function = *packing[i];
    packed[i] = runtime::PackExternal({function.symbol, function.plugin, function.code, function.constants, {}},
                                      tensors[i], threads);
  });
  SharedPacks packs;
  Workspaces workspaces;
  for (size_t i = 0; i < packing.size(); ++i) {
    ExternalFunction& function = *packing[i];
    function.code = std::move(packed[i].code);
    function.packed.emplace();
    for (size_t k = 0; k < tensors[i].size(); ++k) {
      function.packed->push_back(packs.Shared(tensors[i][k], packed[i].constants[k]));
    }
    if (packed[i].workspace_bytes > 0) workspaces.emplace(function.symbol, packed[i].workspace_bytes);
  }
  module = ReplaceExternalFunctions(std::move(module), functions);
  WorkspaceAllocator allocator(workspaces);
  return UpdateAllFunctions(
      std::move(module), [&](const GlobalVar&, const Function& function) { return allocator.RewriteBody(function); });
}

}  // namespace

Pass PrepareExternals() {
  return transform::ModulePass({.name = "PrepareExternals"}, [](IRModule module, const transform::PassContext&) {
    const Target& target = Target::Current();
    const bool is_for_here = target.cpu == Target::Host().cpu && target.WhyNotHere().empty();
    return is_for_here ? Prepare(std::move(module), static_cast<int>(target.machine.threads)) : module;
  });
}

}  // namespace deuteron::relax
