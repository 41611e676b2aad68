#include "deuteron/tir/analysis/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

/// Operations of a function such as exp: so many multiply-adds and shuffles its approximation has, more or less.
constexpr int64_t kOpsOfFunction = 10;
/// Of a division of floats, as many as could be done in its time.
constexpr int64_t kOpsOfDivision = 8;
/// Of the additions and products that a machine could begin, what a chain of pointwise operations reaches.
constexpr double kPointwisePart = 5.0 / 8;
/// Of what loads alone reach from a cache, what loads and stores together do.
constexpr double kCopiedPart = 5.0 / 8;
/// Of the same, what panels reach that are read a few vectors of each row at a time.
constexpr double kPanelPart = 1.0 / 2;
/// Lanes of masked loads, stores and tails, in whole ones.
constexpr double kMaskedPart = 4.0 / 5;
/// To widen 16-bit floats: a load that spreads them, and a shift (an instruction of two parts for half floats).
constexpr double kWideningInstructions = 2;
/// Strided loads of so many vectors, with as many shuffles, take as long as a gather of one.
constexpr int64_t kMostShuffledStride = 4;
/// Code of an instruction on vectors; and how many a few pointwise operations on one are, with their loads and the
/// store.
constexpr double kBytesOfInstruction = 8;
constexpr double kLeastInstructions = 16;
/// What it takes a core to make one, from loops to code.
constexpr double kSecondsOfInstruction = 1.2e-5;
/// A thread's part of a plane is so long at least: beyond its end it has elements fetched that another thread has
/// written.
constexpr int64_t kLeastPartOfPlane = 16 << 10;
/// Of the rate at which a core copies memory, that at which it gets a few lines that another core wrote, and that at
/// which the other one may write them again: there are too few for anything to be fetched ahead.
constexpr double kExchangedPart = 1.0 / 3;
/// Of what loads alone reach from the second level, what those do that lie apart: nothing is fetched ahead of them.
constexpr double kScatteredPart = 1.0 / 3;
/// Of the first level, what a panel may take that is to stay while rows pass by, of which a step reads a scalar each.
constexpr double kStayingPart = 7.0 / 8;
/// Pieces for each thread, so that none waits long for one that is late.
constexpr int64_t kPiecesPerThread = 4;
/// Of what is done at the same time, the part of the time of each that shows.
constexpr double kHiddenPart = 1.0 / 16;
/// A kernel on one thread that takes less than so many fork-joins is not worth others.
constexpr double kForkJoinsOfSerial = 2.5;

/// Operations of a node itself, for each of its lanes.
int64_t OpsOfNode(const PrimExprNode* node) {
  if (node->kind == ExprKind::kDiv && node->dtype.is_float()) return kOpsOfDivision;
  if (IsBinary(node->kind) || node->kind == ExprKind::kSelect) return 1;
  if (node->kind != ExprKind::kCall) return 0;
  static const Op if_then_else = Op::Get("tir.if_then_else");
  const Op& op = static_cast<const CallNode*>(node)->op;
  if (const int64_t products = ProductsOfDot(op); products > 0) return 2 * products - 1;
  return op.same_as(if_then_else) ? 1 : kOpsOfFunction;
}

/// Visits the nodes outside of indices and conditions of guards, which are index arithmetic too.
class WorkVisitor : public StmtExprVisitor {
 protected:
  virtual void Count(const PrimExprNode* node) = 0;

  void VisitBinary_(const BinaryNode* op) override {
    Count(op);
    StmtExprVisitor::VisitBinary_(op);
  }
  void VisitSelect_(const SelectNode* op) override {
    Count(op);
    StmtExprVisitor::VisitSelect_(op);
  }
  void VisitCall_(const CallNode* op) override {
    static const Op if_then_else = Op::Get("tir.if_then_else");
    Count(op);
    if (!op->op.same_as(if_then_else)) return StmtExprVisitor::VisitCall_(op);
    VisitExpr(op->args[1]);
    VisitExpr(op->args[2]);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override { Count(op); }
  void VisitBufferStore_(const BufferStoreNode* op) override { VisitExpr(op->value); }
};

class OpCounter : public WorkVisitor {
 public:
  double ops = 0;

 protected:
  void Count(const PrimExprNode* node) override { ops += static_cast<double>(OpsOfNode(node) * node->dtype.lanes()); }
  void VisitFor_(const ForNode* op) override {
    const double before = ops;
    VisitStmt(op->body);
    ops = before + (ops - before) * static_cast<double>(AssumedExtent(op->extent));
  }
};

/// Instructions of an expression in a lowered function: vectors are as wide as the machine's at most.
class InstructionCounter : public WorkVisitor {
 public:
  int64_t instructions = 0;

 protected:
  void Count(const PrimExprNode* node) override {
    instructions += node->kind == ExprKind::kBufferLoad ? 1 : OpsOfNode(node);
  }
};

int64_t InstructionsOf(const PrimExpr& expr) {
  InstructionCounter counter;
  counter.VisitExpr(expr);
  return counter.instructions;
}

using Visible = std::function<bool(const VarNode*)>;

/// The extent of a loop inside of another one, in what is known outside.
PrimExpr ExtentOutside(const PrimExpr& extent, const Visible& visible) {
  bool known = true;
  deuteron::PostOrderVisit(extent, [&](const PrimExpr& node) {
    if (node->kind == ExprKind::kBufferLoad) known = false;
    if (node->kind == ExprKind::kVar && !visible(static_cast<const VarNode*>(node.get()))) known = false;
  });
  if (known) return CastTo(DataType::Int(64), extent);
  // What is left of an axis for a tile: at most a whole tile.
  arith::Analyzer analyzer;
  const int64_t most = analyzer.Bound(extent).max_value;
  return I64(most == arith::ConstIntBound::kPosInf ? kUnknownExtent : std::max<int64_t>(most, 1));
}

/// Sums and products of what is known are known.
PrimExpr Sum(const PrimExpr& a, const PrimExpr& b) {
  const auto x = AsConstInt(a), y = AsConstInt(b);
  return x && y ? I64(*x + *y) : a + b;
}
PrimExpr Product(const PrimExpr& a, const PrimExpr& b) {
  const auto x = AsConstInt(a), y = AsConstInt(b);
  int64_t product = 0;
  return x && y && !__builtin_mul_overflow(*x, *y, &product) ? I64(product) : a * b;
}

/// Instructions of a lowered statement.
PrimExpr InstructionsOf(const Stmt& stmt, const Visible& visible) {
  switch (stmt->kind) {
    case StmtKind::kSeq: {
      PrimExpr total = I64(0);
      for (const Stmt& part : static_cast<const SeqStmtNode*>(stmt.get())->seq) {
        total = Sum(total, InstructionsOf(part, visible));
      }
      return total;
    }
    case StmtKind::kFor: {
      const auto* op = static_cast<const ForNode*>(stmt.get());
      return Product(ExtentOutside(op->extent, visible), Sum(InstructionsOf(op->body, visible), I64(1)));
    }
    case StmtKind::kIfThenElse: {
      const auto* op = static_cast<const IfThenElseNode*>(stmt.get());
      return Sum(InstructionsOf(op->then_case, visible), I64(InstructionsOf(op->condition)));
    }
    case StmtKind::kBufferStore:
      return I64(1 + InstructionsOf(static_cast<const BufferStoreNode*>(stmt.get())->value));
    case StmtKind::kBind:
      return I64(InstructionsOf(static_cast<const BindNode*>(stmt.get())->value));
    case StmtKind::kEvaluate:
      return I64(InstructionsOf(static_cast<const EvaluateNode*>(stmt.get())->value));
    case StmtKind::kAttr:
      return InstructionsOf(static_cast<const AttrStmtNode*>(stmt.get())->body, visible);
    case StmtKind::kWhile: {
      const auto* op = static_cast<const WhileNode*>(stmt.get());
      return Product(I64(kUnknownExtent), Sum(InstructionsOf(op->body, visible), I64(1)));
    }
    case StmtKind::kAssert:
    case StmtKind::kAllocBuffer:
    case StmtKind::kSBlock:
    case StmtKind::kSBlockRealize:
      return I64(0);
  }
  DEUTERON_UNREACHABLE();
}

/// Pointwise operations of 32 bits that a core computes in a cycle.
double PointwiseOpsPerCycle(const Machine& machine) {
  return kPointwisePart * static_cast<double>(machine.vector_pipes * machine.Lanes(32));
}

double Half(int64_t bytes) { return static_cast<double>(bytes) / 2; }

}  // namespace

int64_t AssumedExtent(const PrimExpr& extent, int64_t unknown) {
  if (const auto known = AsConstInt(extent)) return *known;
  if (extent->kind == ExprKind::kVar) return unknown;
  IndexEvaluator evaluator;
  for (const Var& var : FreeVars(extent)) evaluator.Set(var, unknown);
  return std::max<int64_t>(evaluator.Eval(extent).value_or(unknown), 1);
}

double AssumedProduct(const Array<PrimExpr>& extents, int64_t unknown) {
  double product = 1;
  for (const PrimExpr& extent : extents) product *= static_cast<double>(AssumedExtent(extent, unknown));
  return product;
}

double OpsPerInstance(const SBlock& block) {
  OpCounter counter;
  counter.VisitStmt(block->body);
  return counter.ops;
}

double NumInstances(const SBlock& block, int64_t unknown) {
  double count = 1;
  for (const IterVar& iter : block->iter_vars) count *= static_cast<double>(AssumedExtent(iter->dom->extent, unknown));
  return count;
}

double AssumedOps(const PrimFunc& func) {
  double ops = 0;
  const ScopeInfo scope = AnalyzeScope(RootBlock(func)->body);
  for (const SBlockRealize& realize : scope.blocks) {
    ops += OpsPerInstance(realize->block) * AssumedProduct(scope.ExtentsOf(realize->block));
  }
  return ops;
}

double KnownWork(const PrimFunc& func) {
  if (!HasRootBlock(func)) return 0;
  double work = 0;
  const ScopeInfo scope = AnalyzeScope(RootBlock(func)->body);
  for (const SBlockRealize& realize : scope.blocks) {
    const double times = AssumedProduct(scope.ExtentsOf(realize->block), /*unknown=*/1);
    work += std::max(OpsPerInstance(realize->block), 1.0) * times;
  }
  return work;
}

double CostModel::FlopsPerByte(double tensor_bytes) const {
  if (tensor_bytes <= Half(machine_.l2.Share())) return FlopsPerCachedByte();
  const double ops = PointwiseOpsPerCycle(machine_);
  if (tensor_bytes <= Half(machine_.l3.Share())) return ops / (machine_.l3.load_bytes_per_cycle * kCopiedPart);
  return ops / machine_.CopiedBytesPerCycle();
}

double CostModel::FlopsPerCachedByte() const {
  return PointwiseOpsPerCycle(machine_) / (machine_.l2.load_bytes_per_cycle * kCopiedPart);
}

double CostModel::LeastSeconds(double ops, DataType dtype) const { return ops / machine_.OpsPerSecond(dtype); }

double CostModel::RowBytes() const { return Half(machine_.l2.Share()); }

int64_t CostModel::PanelBytes() const { return machine_.l2.Share() * 6 / 10; }

int64_t CostModel::BesidePanelBytes() const { return machine_.l2.Share() * 4 / 10; }

int64_t CostModel::PartialPanelBytes() const { return machine_.l1.Share() / 2; }

int64_t CostModel::FilledPanelBytes() const { return machine_.l1.Share() / 3; }

int64_t CostModel::PlaneBytes() const { return machine_.l2.Share() / 4; }

int64_t CostModel::StretchBytes() const { return machine_.l1.Share() / 8; }

int64_t CostModel::Places(const Cache& cache, int64_t stride) const {
  const int64_t way = cache.WayBytes();
  return way / std::gcd(way, std::max(stride, machine_.line_bytes)) * cache.ways;
}

bool CostModel::Conflict(int64_t stride, int64_t count) const {
  return count > Places(machine_.l2, stride) / (2 * machine_.l2.sharers);
}

int64_t CostModel::RowsOfLoad() const {
  const double loads = machine_.l2.load_bytes_per_cycle * kPanelPart / sizeof(float);
  return std::max<int64_t>(static_cast<int64_t>(machine_.OpsPerCycle(DataType::Float(32)) / 2 / loads), 1);
}

CostModel::TileStep CostModel::PipesOfTileStep(int64_t rows, int64_t vectors) const {
  return {.sums = static_cast<double>(rows * vectors) / static_cast<double>(machine_.vector_pipes),
          .loads = static_cast<double>(rows + vectors) / static_cast<double>(machine_.load_pipes)};
}

double CostModel::CyclesOfTileStep(int64_t rows, int64_t vectors) const {
  const auto [sums, loads] = PipesOfTileStep(rows, vectors);
  const auto bits = static_cast<double>(vectors * machine_.vector_bits);
  const double panel = bits / 8 / (machine_.l2.load_bytes_per_cycle * kPanelPart);
  // A sum waits for the one before.
  const double least = static_cast<double>(machine_.latency);
  // What is hidden is not for nothing.
  return std::max({sums, loads, panel, least}) + kHiddenPart * (sums + loads + panel);
}

double CostModel::CyclesOfTileStep(int64_t rows, int64_t vectors, double bytes, double panel) const {
  const double cycles = CyclesOfTileStep(rows, vectors);
  if (panel <= kStayingPart * static_cast<double>(machine_.l1.Share())) return cycles;
  return std::max(cycles, bytes / (machine_.l2.load_bytes_per_cycle * kScatteredPart));
}

bool CostModel::WaitsForLoads(int64_t rows, int64_t vectors) const {
  const auto [sums, loads] = PipesOfTileStep(rows, vectors);
  return loads > sums || rows <= RowsOfLoad();
}

int64_t CostModel::StepsOfLatency(int64_t rows, int64_t vectors) const {
  constexpr double kSecondsOfLatency = 1e-7;
  return static_cast<int64_t>(std::ceil(kSecondsOfLatency * machine_.ghz * 1e9 / CyclesOfTileStep(rows, vectors)));
}

CostModel::TileRows CostModel::BestTileRows(std::optional<int64_t> extent, int64_t most, int64_t vectors) const {
  TileRows best;
  const int64_t longest = std::max<int64_t>(std::min(most, extent.value_or(most)), 1);
  for (int64_t rows = longest; rows >= 1; --rows) {
    const int64_t all = extent.value_or(rows);
    const int64_t whole = all / rows, rest = all % rows;
    double cycles = static_cast<double>(whole) * CyclesOfTileStep(rows, vectors);
    if (rest != 0) cycles += CyclesOfTileStep(rest, vectors);
    cycles /= static_cast<double>(all * vectors);
    if (best.cycles == 0 || cycles < best.cycles) best = {rows, cycles};
  }
  return best;
}

CostModel::TileRows CostModel::BestWholeTileRows(int64_t extent, int64_t most, int64_t vectors) const {
  TileRows best;
  for (int64_t rows = std::max<int64_t>(std::min(most, extent), 1); rows >= 1; --rows) {
    if (extent % rows != 0) continue;
    const double cycles = CyclesOfTileStep(rows, vectors) / static_cast<double>(rows * vectors);
    if (best.cycles == 0 || cycles < best.cycles) best = {rows, cycles};
  }
  return best;
}

CostModel::TileRows CostModel::BestTile(std::optional<int64_t> extent, int64_t vectors) const {
  TileRows best{1, std::numeric_limits<double>::infinity()};
  for (int64_t count = std::min(vectors, Accumulators()); count >= 1; --count) {
    if (vectors % count != 0) continue;
    const TileRows tile = BestTileRows(extent, std::max<int64_t>(MostRows(count), 1), count);
    if (tile.cycles < best.cycles) best = tile;
  }
  return best;
}

double CostModel::CyclesOfProduct(int64_t rows, double depth, int64_t columns) const {
  double least = std::numeric_limits<double>::infinity();
  for (int64_t vectors = PanelVectors(columns); vectors >= 1; --vectors) {
    least = std::min(least, CyclesOfProduct(rows, depth, columns, vectors));
  }
  return least;
}

double CostModel::CyclesOfProduct(int64_t rows, double depth, int64_t columns, int64_t vectors) const {
  const int64_t length = vectors * machine_.Lanes(32);
  const int64_t panels = (columns + length - 1) / length;
  const double step = BestTileRows(rows, std::max<int64_t>(MostRows(vectors), 1), vectors).cycles;
  return static_cast<double>(rows * panels * vectors) * step * depth;
}

double CostModel::CyclesOfTransposition(double elements) const {
  // As many shuffles as a butterfly has stages, one a cycle.
  const auto lanes = static_cast<double>(machine_.Lanes(32));
  return elements * std::log2(lanes) / lanes;
}

double CostModel::SecondsOfCycles(double cycles) const {
  return cycles / (machine_.ghz * 1e9 * static_cast<double>(std::min(machine_.threads, machine_.cores)));
}

double CostModel::SecondsToMove(double tensor_bytes) const {
  return SecondsOfCycles(tensor_bytes * FlopsPerByte(tensor_bytes) / PointwiseOpsPerCycle(machine_));
}

double CostModel::Overlapped(double one, double other) const {
  return std::max(one, other) + kHiddenPart * std::min(one, other);
}

int64_t CostModel::PanelVectors(int64_t columns) const {
  // Narrower panels must be this much better: how many rows their tiles will have is not known here.
  constexpr double kLeastGain = 0.98;
  const int64_t lanes = machine_.Lanes(32);
  int64_t best = 0;
  double least = 0;
  for (int64_t vectors = 4; vectors > 0; --vectors) {
    const int64_t length = vectors * lanes;
    const int64_t panels = (columns + length - 1) / length;
    const int64_t rows = MostRows(vectors);
    const double cost = static_cast<double>(panels) / static_cast<double>(rows) * CyclesOfTileStep(rows, vectors);
    if (best != 0 && cost >= kLeastGain * least) continue;
    best = vectors;
    least = cost;
  }
  return best;
}

int64_t CostModel::WholePanelVectors(int64_t columns) const {
  const int64_t lanes = machine_.Lanes(32);
  if (columns % lanes != 0) return 0;
  int64_t best = 0;
  double least = 0;
  for (int64_t vectors = 1; vectors <= std::min(columns / lanes, Accumulators()); ++vectors) {
    const int64_t rows = MostRows(vectors);
    if (columns / lanes % vectors != 0 || rows < 1) continue;
    const double cost = CyclesOfTileStep(rows, vectors) / static_cast<double>(rows * vectors);
    if (best != 0 && cost > least) continue;
    best = vectors;
    least = cost;
  }
  return best;
}

int64_t CostModel::DividingLanes(int64_t extent) const {
  constexpr int64_t kFewest = 4;
  for (int64_t lanes = machine_.Lanes(32); lanes >= kFewest; lanes /= 2) {
    if (extent % lanes == 0) return lanes;
  }
  return 0;
}

double CostModel::PartOfPeak(int64_t lanes) const {
  const auto pipes = static_cast<double>(std::max<int64_t>(machine_.vector_pipes, 2));
  const auto all = static_cast<double>(machine_.vector_pipes * machine_.Lanes(32));
  return std::min(1.0, static_cast<double>(lanes) * pipes / all);
}

double CostModel::CyclesOfCopy(int64_t bytes) const {
  return 2 * static_cast<double>(bytes) / (machine_.l2.load_bytes_per_cycle * kCopiedPart);
}

bool CostModel::ThreadsSharePlanes(int64_t images, int64_t height, int64_t width) const {
  const int64_t threads = machine_.threads;
  return threads > 1 && images < threads && height % threads == 0 &&
         height / threads * width * static_cast<int64_t>(sizeof(float)) >= kLeastPartOfPlane;
}

double CostModel::CyclesOfExchange(double bytes) const {
  return bytes / (machine_.core_gbps / machine_.ghz * kExchangedPart);
}

double CostModel::CyclesOfPointwise(double ops) const { return ops / PointwiseOpsPerCycle(machine_); }

double CostModel::CyclesToWiden() const { return kWideningInstructions / static_cast<double>(machine_.vector_pipes); }

double CostModel::MaskedPart() const { return kMaskedPart; }

int64_t CostModel::MostShuffledStride() const { return kMostShuffledStride; }

int64_t CostModel::MostCopies(double ops) const {
  const double bytes = kBytesOfInstruction * std::max(ops, kLeastInstructions);
  return static_cast<int64_t>(static_cast<double>(machine_.code_bytes) / 2 / bytes);
}

double CostModel::CyclesToMake(double instructions) const {
  if (machine_.expected_calls == 0) return 0;
  return instructions * kSecondsOfInstruction * machine_.ghz * 1e9 / static_cast<double>(machine_.expected_calls);
}

int64_t CostModel::StackBufferBytes() const { return machine_.stack_bytes / 4; }

double CostModel::SerialBytes() const {
  const double cycles = kForkJoinsOfSerial * machine_.fork_join_us * 1e3 * machine_.ghz;
  return cycles * machine_.l2.load_bytes_per_cycle * kCopiedPart;
}

int64_t CostModel::EnoughPieces() const { return kPiecesPerThread * machine_.threads; }

PrimExpr CostModel::Grain(const ForNode* loop, const std::function<bool(const VarNode*)>& visible) const {
  if (!loop->annotations.empty()) {
    if (const auto it = loop->annotations.find("grain"); it != loop->annotations.end()) {
      if (const auto value = (*it).second.try_cast<int64_t>()) return I64(*value);
      if (const auto value = (*it).second.try_cast<PrimExpr>()) return *value;
    }
  }
  const double cycles = machine_.fork_join_us * 1e3 * machine_.ghz;
  const auto piece = static_cast<int64_t>(cycles * static_cast<double>(machine_.issue_width));
  const PrimExpr counted = InstructionsOf(loop->body, visible);
  const auto known = AsConstInt(counted);
  if (known) return I64((piece + std::max<int64_t>(*known, 1) - 1) / std::max<int64_t>(*known, 1));
  const PrimExpr work = Max(I64(1), counted);
  return FloorDiv(I64(piece) + work - 1, work);
}

}  // namespace deuteron::tir
