/// \file
/// Passes over graphs that ask the user: what they hand over, and what they do with the answer.
#include <gtest/gtest.h>

#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"

namespace deuteron {
namespace {

constexpr const char* kProducts = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), a: R.Tensor((8, 3), "float32"), b: R.Tensor((8, 5), "float32"), c: R.Tensor((3,), "float32"), d: R.Tensor((5,), "float32")):
        with R.dataflow():
            w = R.nn.relu(b)
            p = R.matmul(x, a)
            q = R.matmul(x, w)
            r = R.add(p, c)
            s = R.add(q, d)
            gv = (r, s)
            R.output(gv)
        return gv
)";

constexpr const char* kConvolutions = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 16, 8, 8), "float32"), w: R.Tensor((16, 16, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=1)
            b = R.nn.relu(a)
            gv = R.nn.conv2d(b, w, strides=2)
            R.output(gv)
        return gv
)";

IRModule Parse(const char* text) { return script::ParseModule(text, "test.py"); }

int Count(const IRModule& module, const std::string& part) {
  const std::string text = script::Print(module);
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

template <typename Function>
std::string ErrorOf(const Function& function) {
  try {
    function();
  } catch (const tvm::ffi::Error& error) {
    return std::string(error.kind()) + ": " + std::string(error.message());
  }
  return "";
}

TEST(CombineParallelMatmul, AsksBeforeItCombines) {
  const IRModule module = Parse(kProducts);
  int asked = 0;
  const auto refuse = [&](const relax::Expr& lhs, const Array<relax::Expr>& rhs, const Array<relax::Expr>& bias,
                          const std::function<relax::Expr(const relax::Var&)>& value_of) {
    ++asked;
    const auto name = [](const relax::Expr& expr) { return std::string(Downcast<relax::Var>(expr)->name_hint); };
    EXPECT_EQ(name(lhs), "x");
    EXPECT_EQ(rhs.size(), 2U);
    EXPECT_EQ(name(rhs[1]), "w");
    EXPECT_EQ(name(bias[0]) + name(bias[1]), "cd");
    EXPECT_FALSE(value_of(Downcast<relax::Var>(rhs[0])).defined());
    EXPECT_TRUE(value_of(Downcast<relax::Var>(rhs[1])).as<relax::CallNode>() != nullptr);
    return false;
  };
  EXPECT_EQ(script::Print(relax::CombineParallelMatmul(refuse)(module)), script::Print(module));
  EXPECT_EQ(asked, 1);
}

TEST(ConvertLayout, AsksForEachCall) {
  const auto large_strides = [](const relax::Call& call) -> relax::DesiredLayouts {
    if (call->attrs.as<relax::Conv2DAttrsNode>()->strides[0] == 1) return {};
    return {{"relax.nn.conv2d", {"NHWC", "OHWI", "NCHW"}}};
  };
  const IRModule module = relax::ConvertLayout({{"relax.nn.conv2d", {"NCHW4c"}}}, large_strides)(Parse(kConvolutions));
  EXPECT_EQ(Count(module, "data_layout=\"NHWC\", kernel_layout=\"OHWI\", out_layout=\"NCHW\""), 1);
  EXPECT_EQ(Count(module, "data_layout=\"NCHW\""), 1);
}

/// A callback as TVM's tutorials have it: only the data's layout is changed.
relax::OpLayoutChoice Blocks(const char* layout, int level) {
  return {
      "relax.nn.conv2d",
      [layout](const Attrs& attrs, const Array<relax::Expr>& inputs, const Array<Type>&, const Type&) -> relax::Expr {
        auto changed = MakeNode<relax::Conv2DAttrsNode>(*attrs.as<relax::Conv2DAttrsNode>());
        changed->data_layout = layout;
        return relax::Call(Op::Get("relax.nn.conv2d"), inputs, Attrs(changed));
      },
      level};
}

TEST(AlterOpLayout, TheHighestLevelWins) {
  const IRModule module = Parse(kConvolutions);
  const IRModule low = relax::AlterOpLayout({Blocks("NCHW8c", 5)}, Target::Parse("llvm -vector-bits=512"))(module);
  EXPECT_EQ(Count(low, "kernel_layout=\"OIHW16i16o\", out_layout=\"NCHW16c\""), 2);
  const IRModule high =
      relax::AlterOpLayout({Blocks("NCHW8c", 5), Blocks("NCHW4c", 101), Blocks("NCHW2c", 100)})(module);
  EXPECT_EQ(Count(high, "data_layout=\"NCHW4c\", kernel_layout=\"OIHW\", out_layout=\"NCHW4c\""), 2);
  // In, out, and nothing between the two.
  EXPECT_EQ(Count(high, "layout_transform"), 2);
}

TEST(AlterOpLayout, FollowsTheScopedTarget) {
  const TargetScope scope(Target::Parse("llvm -vector-bits=128"));
  EXPECT_EQ(Count(relax::AlterOpLayout()(Parse(kConvolutions)), "data_layout=\"NCHW4c\""), 2);
}

TEST(AlterOpLayout, RefusesWhatTakesNoLayouts) {
  relax::OpLayoutChoice relu = Blocks("NCHW4c", 10);
  relu.op = "relax.nn.relu";
  EXPECT_NE(ErrorOf([&] {
              relax::RegisterAlterOpLayout(relu);
            }).find("UsageError: AlterOpLayout: relax.nn.relu takes no layouts"),
            std::string::npos);
  const relax::OpLayoutChoice other = {"relax.nn.conv2d",
                                       [](const Attrs&, const Array<relax::Expr>& inputs, const Array<Type>&,
                                          const Type&) { return relax::nn::Relu(inputs[0]); },
                                       50};
  EXPECT_NE(ErrorOf([&] { relax::AlterOpLayout({other})(Parse(kConvolutions)); }).find("must return a call of it"),
            std::string::npos);
}

}  // namespace
}  // namespace deuteron
