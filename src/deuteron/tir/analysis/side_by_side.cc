#include "deuteron/tir/analysis/side_by_side.h"

#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::tir {

int64_t VectorsSideBySide(const Stmt& body, const Machine& machine) {
  int functions = 0;
  PostOrderVisit(body, [&functions](const ObjectRef& node) {
    const auto* call = node.as<CallNode>();
    const Intrinsic* info = call == nullptr ? nullptr : FindIntrinsicInfo(call->op);
    if (info == nullptr) return;
    if (info->kind == IntrinKind::kFloatUnary || info->kind == IntrinKind::kFloatBinary) ++functions;
  });
  return functions < 2 ? 1 : machine.latency;
}

}  // namespace deuteron::tir
