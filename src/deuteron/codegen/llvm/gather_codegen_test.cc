/// Loads whose lanes lie where the run tells: near each other, or anywhere.
#include "deuteron/codegen/llvm/kernel_test_util.h"

namespace deuteron::codegen {
namespace {

using tir::Var;

struct Places {
  const char* name;
  /// Of element `i` of `count`.
  PrimExpr (*at)(const PrimExpr& i, const PrimExpr& count);
};

PrimExpr Repeated(const PrimExpr& i, const PrimExpr&) { return FloorDiv(i * 5, I64(7)); }
PrimExpr Backwards(const PrimExpr& i, const PrimExpr& count) { return count - 1 - FloorDiv(i * 5, I64(7)); }
PrimExpr Skipping(const PrimExpr& i, const PrimExpr& count) { return Min(FloorDiv(i * 12, I64(7)), count - 1); }
PrimExpr Apart(const PrimExpr& i, const PrimExpr& count) { return FloorMod(i * 37, count); }
/// Some vectors have their lanes near each other, some have not; the last element is among them.
PrimExpr Mixed(const PrimExpr& i, const PrimExpr& count) {
  return SelectExpr(FloorMod(FloorDiv(i, I64(24)), 2) < 1, count - 1 - FloorMod(i, I64(11)), FloorDiv(i, I64(3)));
}

constexpr Places kPlaces[] = {
    {"repeated", Repeated}, {"backwards", Backwards}, {"skipping", Skipping}, {"apart", Apart}, {"mixed", Mixed}};

/// rows × count: out[r, i] = in[r, at(i)], the places in a table or computed where they are read.
tir::PrimFunc Taken(const Places& places, DataType type, const PrimExpr& count, bool has_table, tir::ForKind rows) {
  const Var r("r"), i("i"), j("j");
  const tir::Buffer in("in", type, {I64(3), count}), out("out", type, {I64(3), count}),
      table("table", DataType::Int(64), {count});
  const PrimExpr at = has_table ? PrimExpr(tir::BufferLoad(table, {i})) : places.at(i, count);
  const tir::Stmt row = tir::For(i, I64(0), count, tir::ForKind::kVectorized,
                                 tir::BufferStore(out, tir::BufferLoad(in, {r, at}), {r, i}));
  tir::Stmt body = tir::For(r, I64(0), I64(3), rows, row);
  if (has_table) {
    body = tir::SeqStmt(
        {tir::For(j, I64(0), count, tir::ForKind::kSerial, tir::BufferStore(table, places.at(j, count), {j})), body});
  }
  Array<tir::Buffer> buffers = {in, out};
  if (has_table) buffers.push_back(table);
  return tir::PrimFunc::FromBuffers(buffers, {}, body, DictAttrs(Map<String, Any>{{"tirx.noalias", true}}));
}

TEST(Gathers, AreRightWhereverLanesLie) {
  const Var count("count");
  for (const Places& places : kPlaces) {
    SCOPED_TRACE(places.name);
    for (const DataType type : {DataType::Float(32), DataType::Float(64), DataType::Float(16)}) {
      SCOPED_TRACE(type.ToString());
      for (const bool has_table : {false, true}) {
        Check(Taken(places, type, I64(101), has_table, tir::ForKind::kSerial));
        for (const int64_t elements : {5, 200}) {
          Check(Taken(places, type, count, has_table, tir::ForKind::kParallel), 0, {{count, I64(elements)}});
        }
      }
    }
  }
}

TEST(Gathers, ArePermutationsWhereLanesAreNear) {
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4");
  const tir::PrimFunc func =
      Taken(kPlaces[0], DataType::Float(32), Var("count"), /*has_table=*/true, tir::ForKind::kParallel);
  const IRModule module = Lowered(func, target);
  EXPECT_NE(EmitAssembly(module, target, {}).find("vpermi2"), std::string::npos);
}

}  // namespace
}  // namespace deuteron::codegen
