#include "deuteron/tir/analysis/side_by_side.h"

#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::tir {
namespace {

/// Code that runs few times takes longer to make than one function waits.
constexpr int64_t kFewestOfFewCalls = 2;

}  // namespace

int64_t CountFunctions(const Stmt& body) {
  int64_t functions = 0;
  PostOrderVisit(body, [&functions](const ObjectRef& node) {
    const auto* call = node.as<CallNode>();
    const Intrinsic* info = call == nullptr ? nullptr : FindIntrinsicInfo(call->op);
    if (info == nullptr) return;
    if (info->kind == IntrinKind::kFloatUnary || info->kind == IntrinKind::kFloatBinary) ++functions;
  });
  return functions;
}

int64_t VectorsSideBySide(const Stmt& body, const Machine& machine) {
  const int64_t fewest = machine.expected_calls == 0 ? 1 : kFewestOfFewCalls;
  return CountFunctions(body) < fewest ? 1 : machine.latency;
}

}  // namespace deuteron::tir
