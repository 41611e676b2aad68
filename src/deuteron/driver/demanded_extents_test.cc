#include "deuteron/driver/demanded_extents.h"

#include "deuteron/driver/verify.h"
#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

/// k is 7 because of w, j is k, m is free.
const char* const kParams =
    "x: R.Tensor((\"m\", \"k\"), \"float32\"), w: R.Tensor((7, 4), \"float32\"), z: R.Tensor((\"j\", 5), \"float32\")";

IRModule Products() {
  return MakeModule(kParams, {"a = R.matmul(x, z)", "b = R.matmul(x, w)", "gv = R.concat((a, b), axis=1)"});
}

TEST(DemandedExtents, FollowFromConstantsAndEqualities) {
  const IRModule module = Products();
  const auto extents = DemandedExtents(module);
  std::map<std::string, int64_t> by_name;
  for (const relax::Var& param : Downcast<relax::Function>(module.Lookup("main"))->params) {
    for (const PrimExpr& dim : *param->ty.as<TensorTypeNode>()->shape) {
      const auto it = extents.find(dim.get());
      if (it != extents.end()) by_name[std::string(dim.as<tir::VarNode>()->name_hint)] = it->second;
    }
  }
  EXPECT_EQ(by_name, (std::map<std::string, int64_t>{{"j", 7}, {"k", 7}}));
}

TEST(DemandedExtents, LetVerifyRunModelsThatTakeOneSizeOnly) {
  const std::vector<VerifiedStage> stages = Verify(Products(), {.compile = {.threads = 1, .backend = "none"}});
  for (const VerifiedStage& stage : stages) EXPECT_EQ(stage.problem, "") << stage.name;
  EXPECT_EQ(stages.back().name, "compiled code");
}

}  // namespace
}  // namespace deuteron
