/// \file
/// Matrix units (AMX): instructions that multiply tiles of 32-bit elements, each of which holds several numbers
/// (`dot_bf16x2`, `dot_u8i8x4`): C[i, j] += Σ_k dot(A[i, k], B[k, j]), the rows of each operand contiguous.
///
/// Loops for them stay what they are in loop-level IR, so that whoever reads or interprets it need not know of tiles:
/// those of the sum, of which the first is marked, around one of rows and one of columns. Where a target has no such
/// unit they are run as they stand.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Its registers, each of `rows` rows of so many columns of 32 bits.
struct MatrixUnit {
  int64_t tiles = 8;
  int64_t rows = 16;
  int64_t columns = 16;
};
/// The unit that computes sums of this intrinsic; nothing where the target has none.
std::optional<MatrixUnit> FindMatrixUnit(const Target& target, const Op& dot);

/// A step takes as long whatever it multiplies: with fewer elements, vectors are as fast.
inline constexpr int64_t kFewestOfStep = 4;
/// Of fewer rows the products of vectors are as fast: the weights are read once either way.
inline constexpr int64_t kFewestRowsOfUnit = 4;
/// A vector of floats that is rounded and packed takes as long as multiply-adds with so many columns.
inline constexpr int64_t kFewestColumnsOfRounding = 32;
/// Whether a sum over so many numbers (channels) has so many elements.
bool FillsStep(const Op& dot, int64_t numbers);
/// A convolution's groups: channels of one, results and window of all.
struct ConvGroups {
  int64_t channels, results, taps = 1, groups = 1;
};
/// The groups of a convolution that the unit computes: each may be several of it, of which one's weights for the
/// channels of the others are 0.
struct UnitGroups {
  int64_t groups = 1;
  /// Of the time, what tiles that are full and multiply what is wanted would take.
  double part = 1;
};
/// Those that take the least time; nothing where the target has no unit for them, or vectors are as fast.
std::optional<UnitGroups> GroupsForUnit(const Target& target, const Op& dot, const ConvGroups& conv);
/// Elements of a sum of `depth` that a step multiplies: as many as a row of A has, or as divide the sum.
int64_t DepthOfStep(const MatrixUnit& unit, int64_t depth);

/// Operations in a cycle that tiles of generated code reach on a machine with a unit for operands of that
/// type: they wait for the second cache, and what is not multiplied, as rounding and storing, takes more of the time.
double UnitOpsPerCycle(const Machine& machine, DataType operands);

/// A product, or a convolution: rows of the result and columns, what is summed over, and how many taps of a window that
/// is, which each number of the data meets.
struct ProductSize {
  double rows, columns, depth, taps = 1;
};
/// Cycles of a core for each multiply-add of a product of float16 in parts of bfloat16, which the unit multiplies:
/// parts of the data are made once, those of the weight for each block of rows, and sums pass through tiles. Nothing
/// where the target has no unit, or that takes no less time than in float32.
std::optional<double> CyclesInParts(const Target& target, const ProductSize& size);

/// Columns of the panels that a constant operand B of so many columns is laid out in for the unit: two registers, or
/// one where padding would make too many of them.
int64_t PanelColumns(const MatrixUnit& unit, int64_t columns);

/// Marks the outermost loop of the sum, its value how many loops that has.
inline constexpr const char* kMatrixTile = "matrix_tile";

/// The loops of a marked nest and its one statement, C = C + dot(A, B), buffers having one dimension; for the first
/// rows alone where a condition around it says so.
struct MatrixTile {
  /// Of the sum, outermost first; along the last one the rows of A are contiguous.
  std::vector<const ForNode*> depth;
  /// The one of the sum around it whose iterations have tiles in common, of A or of B; null if none has. It is not
  /// among `depth`.
  const ForNode* products = nullptr;
  const ForNode* row = nullptr;
  const ForNode* column = nullptr;
  /// How many rows that are, at most the extent of `row`; an expression of variables around the nest.
  PrimExpr num_rows;
  const BufferStoreNode* store = nullptr;
  const CallNode* dot = nullptr;
  const BufferLoadNode* a = nullptr;
  const BufferLoadNode* b = nullptr;
  /// Elements from one row of C, of A and of B to the next.
  int64_t c_stride = 0, a_stride = 0, b_stride = 0;
};
/// The index of an operand in an iteration of the loop `products`, as it is where there is none.
PrimExpr IndexOfProduct(const PrimExpr& index, const ForNode* products, int64_t product);
/// Nothing if the loop is not marked, or what it holds is not of that form with known extents.
std::optional<MatrixTile> FindMatrixTile(const ForNode* loop);

/// Whether `stmt` sets the whole tile of C to 0, and nothing else.
bool SetsToZero(const Stmt& stmt, const MatrixTile& tile);

/// Whether a function of the module has such loops.
bool UsesMatrixUnit(const IRModule& module);

}  // namespace deuteron::tir
