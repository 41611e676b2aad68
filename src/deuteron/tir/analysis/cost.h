/// \file
/// What computing costs: how much work kernels and loops are, and how long a machine takes for it. Fusion, schedules,
/// parallel loops and the choice of a library ask here, each about the target that is compiled for.
///
/// Work is counted in operations: an addition, a product, a comparison, a choice is one (a multiply-add two), a
/// division of floats eight, a function as exp ten. Loads, stores and the arithmetic of indices are not operations.
#pragma once

#include <functional>
#include <optional>

#include "deuteron/target/machine.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// What is assumed of an extent that is not known while compiling: a batch of texts, their length, the sides of an
/// image. Much more than a vector or a tile has, so that what depends on it counts; so little that rows as long as that
/// fit a cache.
inline constexpr int64_t kUnknownExtent = 128;
/// The same of a side of an image that is convolved: of smaller ones little is left behind some strides.
inline constexpr int64_t kUnknownSide = 2 * kUnknownExtent;
/// The extent; of one that is not known, what it is where its variables are that.
int64_t AssumedExtent(const PrimExpr& extent, int64_t unknown = kUnknownExtent);
/// The product of extents, those that are not known assumed, or as long as `unknown`.
double AssumedProduct(const Array<PrimExpr>& extents, int64_t unknown = kUnknownExtent);

/// Operations of one instance of the block.
double OpsPerInstance(const SBlock& block);
/// Instances of a block, extents that are not known assumed, or as long as `unknown`.
double NumInstances(const SBlock& block, int64_t unknown = kUnknownExtent);
/// Operations of all blocks of a function with a root block.
double AssumedOps(const PrimFunc& func);
/// Operations of one call of a kernel, and the elements that it moves without any; extents that are not known count
/// once.
double KnownWork(const PrimFunc& func);

/// Whether threads rather share out the rows of a product than its columns: the weights, which each reads whole then,
/// are not much larger than the data, of which each reads its own part. Weights come from a cache that all share; of
/// the data much lies in those of other cores, from which it comes at about half the rate.
inline bool ThreadsShareRows(double data_bytes, double weight_bytes) { return weight_bytes <= 2 * data_bytes; }

/// What time work takes on a machine, and how much of what its caches have room for. The units are cycles of one core
/// and bytes; of caches only the part that falls to a thread counts, and of that only as much as may be used without
/// driving out what else is needed.
class CostModel {
 public:
  explicit CostModel(const Machine& machine) : machine_(machine) {}
  const Machine& machine() const { return machine_; }

  /// Pointwise operations that take as long as a byte which is read or written of a tensor of that size: more where it
  /// comes from memory than where it is still in a cache.
  double FlopsPerByte(double tensor_bytes) const;
  /// The same at the second level: below it, computing a value again is no dearer than loading it.
  double FlopsPerCachedByte() const;
  /// Seconds for so many operations of products of elements of that type, if nothing but arithmetic takes time.
  double LeastSeconds(double ops, DataType dtype) const;

  /// What the rows of all tensors of a kernel may take, so that its stages find them in the cache of the second level.
  double RowBytes() const;
  /// What of that cache a panel of a product's operand may take, which stays while the other operand passes by; and
  /// what of the other may stay beside it.
  int64_t PanelBytes() const;
  int64_t BesidePanelBytes() const;
  /// What of the first level a part of such a panel may take that stays while rows of the other operand pass by, or
  /// what they have summed up.
  int64_t PartialPanelBytes() const;
  /// The same of one that is filled there, which rows of as many bytes pass by, and their sums.
  int64_t FilledPanelBytes() const;
  /// What a plane may take that a thread computes to slide a window over it.
  int64_t PlaneBytes() const;
  /// What a stretch of one tensor may take, if a few such are to fit the first level.
  int64_t StretchBytes() const;
  /// Lines of a cache, of all its sets, that have room for what is `stride` bytes apart.
  int64_t Places(const Cache& cache, int64_t stride) const;
  /// Whether `count` lines that are `stride` bytes apart drive each other out of the second level.
  bool Conflict(int64_t stride, int64_t count) const;
  /// With how many rows an element of the other operand, loaded from the second level, may be multiplied in the time
  /// that its load takes.
  int64_t RowsOfLoad() const;
  /// Vectors of a register tile; the other registers hold a step's operands and what the epilogue needs.
  int64_t Accumulators() const { return machine_.vector_registers * 7 / 8; }
  /// Rows of a register tile of so many vectors, beside which a step's vectors and a scalar have registers.
  int64_t MostRows(int64_t vectors) const {
    return std::min(Accumulators(), machine_.vector_registers - vectors - 1) / vectors;
  }
  /// Cycles that a step of a register tile takes: it loads `vectors` vectors from the second level, broadcasts `rows`
  /// scalars and does rows × vectors multiply-adds.
  double CyclesOfTileStep(int64_t rows, int64_t vectors) const;
  /// The same of steps that find nothing of what they load, `bytes` on average, next to what the step before loaded:
  /// `panel` bytes all of them, which stay in the first level for other rows if they have room there.
  double CyclesOfTileStep(int64_t rows, int64_t vectors, double bytes, double panel) const;
  /// Whether a step takes as long to load as to multiply and add, so that a tile of more rows would be faster.
  bool WaitsForLoads(int64_t rows, int64_t vectors) const;
  /// How many such steps pass while a line comes from memory.
  int64_t StepsOfLatency(int64_t rows, int64_t vectors) const;
  /// Rows of a tile, and the cycles that a step of all tiles along an axis takes for each vector of each row.
  struct TileRows {
    int64_t rows = 1;
    double cycles = 0;
  };
  /// The best number of rows, at most `most`, for tiles of so many vectors along an axis of `extent`, if that is known:
  /// the last tile has those that are left.
  TileRows BestTileRows(std::optional<int64_t> extent, int64_t most, int64_t vectors) const;
  /// The same of the numbers of rows that divide `extent`, of which no tile is left.
  TileRows BestWholeTileRows(int64_t extent, int64_t most, int64_t vectors) const;
  /// The same of the numbers of vectors that divide `vectors`: the best of them.
  TileRows BestTile(std::optional<int64_t> extent, int64_t vectors) const;
  /// Cycles of a core for rows × depth × columns multiply-adds of float32 in the best tiles, the columns in panels.
  double CyclesOfProduct(int64_t rows, double depth, int64_t columns) const;
  /// The same, in panels of so many vectors.
  double CyclesOfProduct(int64_t rows, double depth, int64_t columns, int64_t vectors) const;
  /// Cycles to exchange rows and columns of so many elements, whole vectors at a time, in registers.
  double CyclesOfTransposition(double elements) const;
  /// Vectors of the columns that a panel of a product's operand has, which a register tile reads side by side: what
  /// makes the least work of `columns`. What the last panel has too many is computed in vain, and narrow tiles load
  /// more for a multiply-add.
  int64_t PanelVectors(int64_t columns) const;
  /// The same, of panels that `columns` divide into; 0 if they are no whole vectors.
  int64_t WholePanelVectors(int64_t columns) const;
  /// Lanes of the widest vectors, at least 4, that divide `extent`; 0 if there are none.
  int64_t DividingLanes(int64_t extent) const;
  /// Of the peak of arithmetic, what vectors of so many lanes reach: there are two pipes at least for shorter ones.
  double PartOfPeak(int64_t lanes) const;
  /// Seconds for so many cycles of work that all threads share.
  double SecondsOfCycles(double cycles) const;
  /// Seconds for all threads to read or to write a tensor of that size.
  double SecondsToMove(double tensor_bytes) const;
  /// What two things take that are done at the same time.
  double Overlapped(double one, double other) const;
  /// Whether threads rather share out the rows of an image's planes than the planes, as products do before and after:
  /// where planes are so large, a thread finds in its cache most of what it reads.
  bool ThreadsSharePlanes(int64_t images, int64_t height, int64_t width) const;
  /// Cycles of a core to get so many bytes that another one wrote last, between which and its own it reads no others.
  double CyclesOfExchange(double bytes) const;
  /// Cycles to copy so many bytes within the second level.
  double CyclesOfCopy(int64_t bytes) const;
  /// Cycles of a core for so many pointwise operations.
  double CyclesOfPointwise(double ops) const;
  /// Cycles to make a vector of float32 of 16-bit floats that were loaded.
  double CyclesToWiden() const;
  /// Lanes of a vector that may be masked count as so many of another.
  double MaskedPart() const;
  /// Steps between the elements of a vector up to which whole vectors are loaded and shuffled in less time than its
  /// elements are gathered.
  int64_t MostShuffledStride() const;
  /// How many copies of `ops` pointwise operations on a vector may follow each other in a loop that is to run from the
  /// first cache of instructions.
  int64_t MostCopies(double ops) const;
  /// Cycles of a core in each call of a kernel that is expected for which it takes as long to make so many instructions
  /// of its code; 0 where calls are many.
  double CyclesToMake(double instructions) const;
  /// The most that one buffer may take of a kernel's part of the stack.
  int64_t StackBufferBytes() const;
  /// Accumulators that are needed for an addition to begin as often as its operand is loaded.
  int64_t LeastAccumulators() const { return machine_.latency; }

  /// A kernel that moves less than this runs on one thread in any case.
  double SerialBytes() const;
  /// So many pieces of work keep all threads busy to the end.
  int64_t EnoughPieces() const;
  /// The least number of iterations of a parallel loop of a lowered function that are worth a thread's while, as an
  /// expression in variables for which `visible` holds (those defined outside of the loop): its annotation "grain" if
  /// there, else so many that a piece takes about as long as a fork-join.
  PrimExpr Grain(const ForNode* loop, const std::function<bool(const VarNode*)>& visible) const;

 private:
  /// Cycles for which the multiply-adds of a tile's step, and its loads from the first level, keep their pipes.
  struct TileStep {
    double sums, loads;
  };
  TileStep PipesOfTileStep(int64_t rows, int64_t vectors) const;

  Machine machine_;
};

}  // namespace deuteron::tir
