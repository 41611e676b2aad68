#include "deuteron/relax/structure_hash.h"

#include <gtest/gtest.h>

#include <map>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/structure_hash.h"

namespace deuteron {
namespace {

using te::Tensor;

/// A kernel of x, of shape (4, 6): its elements by an expression.
tir::PrimFunc Kernel(const std::function<PrimExpr(const Tensor& x, const tir::Var& i, const tir::Var& j)>& value,
                     std::vector<int64_t> shape = {4, 6}, DataType dtype = DataType::Float(32)) {
  const Array<PrimExpr> extents = {I64(shape[0]), I64(shape[1])};
  const Tensor x = te::Placeholder(extents, dtype, "x");
  const Tensor y = te::Compute(
      extents, [&](const Array<tir::Var>& at) { return value(x, at[0], at[1]); }, "y");
  return te::CreatePrimFunc({x, y}, {});
}

TEST(StructureHash, IsThatOfKernelsThatAreEqual) {
  const auto load = [](const Tensor& x, const tir::Var& i, const tir::Var& j) { return x({i, j}); };
  const auto twice = [](const Tensor& x, const tir::Var& i, const tir::Var& j) {
    return x({i, j}) * MakeConst(DataType::Float(32), 2);
  };
  const auto thrice = [](const Tensor& x, const tir::Var& i, const tir::Var& j) {
    return x({i, j}) * MakeConst(DataType::Float(32), 3);
  };
  const auto of_row = [](const Tensor& x, const tir::Var& i, const tir::Var& j) { return x({i, I64(0)}); };
  const auto of_column = [](const Tensor& x, const tir::Var& i, const tir::Var& j) { return x({I64(0), j}); };
  const std::vector<tir::PrimFunc> kernels = {
      Kernel(load),
      Kernel(load, {4, 7}),
      Kernel(load, {6, 4}),
      Kernel(load, {4, 6}, DataType::Int(32)),
      Kernel(twice),
      Kernel(thrice),
      Kernel(of_row),
      Kernel(of_column),
      WithAttr(Kernel(load), "count", Any(int64_t{1})),
      WithAttr(Kernel(load), "count", Any(int64_t{2})),
  };
  std::map<uint64_t, size_t> of;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const uint64_t hash = tir::StructureHash(kernels[i]);
    EXPECT_EQ(hash, tir::StructureHash(tir::RenewDefs(kernels[i])));
    const auto [other, is_new] = of.emplace(hash, i);
    EXPECT_TRUE(is_new) << "kernels " << other->second << " and " << i << " have one hash";
  }
  EXPECT_EQ(tir::StructureHash(Kernel(load)), tir::StructureHash(Kernel(load)));
}

TEST(FirstEqual, IsTheFirstOfEachKind) {
  const auto times = [](double factor) {
    return Kernel([=](const Tensor& x, const tir::Var& i, const tir::Var& j) {
      return x({i, j}) * MakeConst(DataType::Float(32), factor);
    });
  };
  // Zeros of either sign have one hash, and are not equal.
  const std::vector<tir::PrimFunc> kernels = {times(2),    times(0), times(-0.0), times(2),   times(3),
                                              times(-0.0), times(0), times(3),    times(-0.0)};
  for (const size_t threads : {size_t{0}, size_t{1}, size_t{3}}) {
    EXPECT_EQ(tir::FirstEqual(kernels, threads), (std::vector<size_t>{0, 1, 2, 0, 4, 2, 1, 4, 2}));
  }
  EXPECT_TRUE(tir::FirstEqual({}, 2).empty());
}

TEST(StructureHash, TakesZerosOfEitherSignForOne) {
  const auto plus = [](double number) {
    return Kernel([number](const Tensor& x, const tir::Var& i, const tir::Var& j) {
      return x({i, j}) + tir::FloatImm(DataType::Float(32), number);
    });
  };
  EXPECT_EQ(tir::StructureHash(plus(0.0)), tir::StructureHash(plus(-0.0)));
  EXPECT_NE(tir::StructureHash(plus(1.0)), tir::StructureHash(plus(-1.0)));
}

/// main(x) = exp(x) + c, the sum's operands in either order.
relax::Function Graph(const std::vector<float>& constant, bool is_turned, const std::string& name = "x") {
  const DataType dtype = DataType::Float(32);
  const auto extent = static_cast<int64_t>(constant.size());
  tvm::ffi::Tensor data = runtime::AllocTensor({extent}, dtype);
  std::copy(constant.begin(), constant.end(), static_cast<float*>(data.data_ptr()));
  const relax::Var x(name, TensorType({I64(extent)}, dtype));
  relax::BlockBuilder builder;
  builder.BuildFunction("main", {x}, [&] {
    relax::Var out;
    builder.Dataflow([&] {
      const relax::Var lv = builder.Emit(relax::Exp(x));
      const relax::Constant c(data);
      out = builder.EmitOutput(is_turned ? relax::Add(c, lv) : relax::Add(lv, c));
    });
    builder.EmitFuncOutput(out);
  });
  return Downcast<relax::Function>(builder.Finalize().Lookup("main"));
}

TEST(StructureHash, IsThatOfGraphsThatAreEqual) {
  const std::vector<float> some(5, 1), others = {1, 1, 1, 1, 2}, more(6, 1);
  EXPECT_EQ(relax::StructureHash(Graph(some, false)), relax::StructureHash(Graph(some, false, "y")));
  EXPECT_NE(relax::StructureHash(Graph(some, false)), relax::StructureHash(Graph(some, true)));
  EXPECT_NE(relax::StructureHash(Graph(some, false)), relax::StructureHash(Graph(others, false)));
  EXPECT_NE(relax::StructureHash(Graph(some, false)), relax::StructureHash(Graph(more, false)));
}

}  // namespace
}  // namespace deuteron
