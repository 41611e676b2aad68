/// \file
/// Buffers that begin behind their data, and views of others' data: they mean the same interpreted, read again from
/// their text, resolved, scheduled and lowered.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deuteron/interpreter/interpreter.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/verify.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/transform/lower.h"
#include "deuteron/tir/transform/views.h"

namespace deuteron {
namespace {

IRModule Parse(const std::string& functions) {
  return script::ParseModule("@I.ir_module\nclass Module:\n" + functions);
}

tir::PrimFunc FunctionOf(const IRModule& module) { return Downcast<tir::PrimFunc>(module.Lookup("f")); }

/// 0, 1, 2, …
Tensor Counted(const std::vector<int64_t>& shape) {
  Tensor tensor = runtime::AllocTensor(shape, DataType::Float(32));
  auto* data = static_cast<float*>(tensor.data_ptr());
  for (int64_t i = 0; i < tensor.numel(); ++i) data[i] = static_cast<float>(i);
  return tensor;
}

std::vector<float> Run(const tir::PrimFunc& func, const std::vector<int64_t>& in, const std::vector<int64_t>& out,
                       const std::vector<int64_t>& scalars = {}) {
  const Tensor result = Counted(out);
  interpreter::RunPrimFunc(func, {Counted(in), result}, scalars);
  const auto* data = static_cast<const float*>(result.data_ptr());
  return {data, data + result.numel()};
}

/// What "f" makes of 0, 1, 2, … in whatever form it is.
void Check(const std::string& text, const std::vector<int64_t>& in, const std::vector<int64_t>& out,
           const std::vector<float>& expected, const std::vector<int64_t>& scalars = {}) {
  const IRModule module = Parse(text);
  const IRModule again = script::ParseModule(script::Print(module));
  EXPECT_TRUE(StructurallyEqual(module, again)) << script::Print(module) << script::Print(again);
  const Target target = Target::Parse("llvm -threads=2");
  for (const tir::PrimFunc& func : {FunctionOf(module), FunctionOf(again)}) {
    EXPECT_EQ(tir::FindViolations(func), std::vector<std::string>());
    EXPECT_EQ(Run(func, in, out, scalars), expected);
    EXPECT_EQ(Run(tir::LowerPrimFunc(func, target), in, out, scalars), expected);
    const tir::PrimFunc resolved = tir::ResolveViews(func);
    EXPECT_EQ(tir::FindViolations(resolved), std::vector<std::string>()) << script::Print(resolved);
    EXPECT_EQ(Run(resolved, in, out, scalars), expected) << script::Print(resolved);
    const tir::PrimFunc scheduled = tir::ApplyScheduleRules(resolved, target).func;
    EXPECT_EQ(Run(scheduled, in, out, scalars), expected) << script::Print(scheduled);
    EXPECT_EQ(Run(tir::LowerPrimFunc(scheduled, target), in, out, scalars), expected);
  }
}

std::string ErrorOf(const std::string& text, const std::vector<int64_t>& in, const std::vector<int64_t>& out) {
  try {
    Run(FunctionOf(Parse(text)), in, out);
  } catch (const ffi::Error& error) {
    return error.message();
  }
  return "";
}

TEST(BufferViews, BeginAtConstants) {
  Check(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((16,), "float32"), B: T.Buffer((2, 4), "float32")):
        C = T.decl_buffer((2, 4), data=A.data, elem_offset=8)
        for i, j in T.grid(2, 4):
            with T.sblock("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = C[vi, vj]
)",
        {16}, {2, 4}, {8, 9, 10, 11, 12, 13, 14, 15});
}

TEST(BufferViews, OfManyDimensionsWithStrides) {
  // A transposed part of a matrix.
  Check(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((4, 5), "float32"), B: T.Buffer((3, 2), "float32")):
        C = T.decl_buffer((3, 2), data=A.data, strides=(1, 5), elem_offset=6)
        for i, j in T.grid(3, 2):
            with T.sblock("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = C[vi, vj]
)",
        {4, 5}, {3, 2}, {6, 11, 7, 12, 8, 13});
}

TEST(BufferViews, AreWrittenTo) {
  Check(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((6,), "float32"), B: T.Buffer((12,), "float32")):
        t = T.sblock_alloc_buffer((12,))
        first = T.decl_buffer((6,), data=t.data)
        second = T.decl_buffer((2, 3), data=t.data, elem_offset=6)
        for i in range(6):
            with T.sblock("first"):
                vi = T.axis.spatial(6, i)
                first[vi] = A[vi] + T.float32(1)
        for i, j in T.grid(2, 3):
            with T.sblock("second"):
                vi, vj = T.axis.remap("SS", [i, j])
                second[vi, vj] = first[vi * 3 + vj] * T.float32(10)
        for i in range(12):
            with T.sblock("all"):
                vi = T.axis.spatial(12, i)
                B[vi] = t[vi]
)",
        {6}, {12}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
}

TEST(BufferViews, BeginWhereIteratorsAndArgumentsSay) {
  Check(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer(("m",), "float32"), B: T.Buffer((4, 2), "float32"), k: T.int64):
        m = T.int64()
        for i in range(T.int64(4)):
            with T.sblock("rows"):
                vi = T.axis.spatial(T.int64(4), i)
                row = T.decl_buffer((T.int64(2),), data=A.data, elem_offset=vi * T.int64(3) + k)
                for j in range(T.int64(2)):
                    B[vi, j] = row[j]
)",
        {14}, {4, 2}, {1, 2, 4, 5, 7, 8, 10, 11}, {1});
}

TEST(BufferViews, RegionsSayWhereTheyBegin) {
  Check(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((4, 3), "float32"), B: T.Buffer((4, 3), "float32")):
        for i in range(2):
            with T.sblock("rows"):
                vi = T.axis.spatial(2, i)
                begin = T.int32()
                step = T.int32()
                C = T.match_buffer(A[vi * 2:vi * 2 + 2, 0:3], (2, 3), elem_offset=begin, strides=[step, 1])
                D = T.match_buffer(B[vi * 2:vi * 2 + 2, 0:3], (2, 3), offset_factor=6)
                for j, k in T.grid(2, 3):
                    D[j, k] = C[j, k] + T.Cast("float32", begin * 100 + step * 10 + D.elem_offset)
)",
        {4, 3}, {4, 3}, {30, 31, 32, 33, 34, 35, 642, 643, 644, 645, 646, 647});
}

/// Arguments begin at their pointers, whatever the text calls that.
TEST(BufferViews, ParametersBeginAtTheirPointers) {
  Check(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(a: T.handle, b: T.handle):
        n = T.int64()
        begin = T.int64()
        A = T.match_buffer(a, (n,), "float32", elem_offset=begin, offset_factor=8)
        B = T.match_buffer(b, (n,), "float32", elem_offset=begin * n)
        C = T.decl_buffer((n,), data=A.data, elem_offset=A.elem_offset)
        for i in range(n):
            with T.sblock("add"):
                vi = T.axis.spatial(n, i)
                B[vi] = C[vi] + T.Cast("float32", begin)
)",
        {8}, {8}, {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST(BufferViews, OfAnotherTypeOfElements) {
  // The upper halves of 1.0f and 2.0f, as numbers.
  Check(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((2,), "float32")):
        C = T.decl_buffer((4,), "uint16", data=A.data, elem_offset=2)
        for i in range(2):
            with T.sblock("bits"):
                vi = T.axis.spatial(2, i)
                B[vi] = T.Cast("float32", C[vi * 2 + 1])
)",
        {4}, {2}, {0x3f80, 0x4000});
}

/// Such a view of an intermediate buffer: where that is placed and how it lies takes account of it.
TEST(BufferViews, OfAnotherTypeOfElementsOfAnAllocation) {
  Check(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((3,), "float32")):
        t = T.sblock_alloc_buffer((8,))
        halves = T.decl_buffer((4,), "uint16", data=t.data, elem_offset=2)
        for i in range(4):
            with T.sblock("all"):
                vi = T.axis.spatial(4, i)
                t[vi] = A[vi]
        for i in range(3):
            with T.sblock("bits"):
                vi = T.axis.spatial(3, i)
                B[vi] = T.Cast("float32", halves[vi]) + t[1]
)",
        {4}, {3}, {1, 0x3f80 + 1, 1});
}

TEST(BufferViews, ArgumentsThatBeginElsewhereAreRefused) {
  EXPECT_NE(ErrorOf(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer(("n",), "float32", elem_offset="n + 3"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("copy"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]
)",
                    {5}, {4})
                .find("argument A begins at its pointer, its elem_offset is 0 and not n + 3"),
            std::string::npos);
}

TEST(BufferViews, BeyondTheirDataAreNoticed) {
  EXPECT_NE(ErrorOf(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((2,), "float32")):
        C = T.decl_buffer((2,), data=A.data, elem_offset=3)
        for i in range(2):
            with T.sblock("copy"):
                vi = T.axis.spatial(2, i)
                B[vi] = C[vi]
)",
                    {4}, {2})
                .find("buffer C reaches beyond the data of A"),
            std::string::npos);
}

}  // namespace
}  // namespace deuteron
