/// \file
/// The tile of a contraction: which axes it has, of what lengths, and how its operands and sums are cut. See
/// contraction_tile.cc for what becomes of it.
#pragma once

#include <optional>

#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

struct ContractionPlan {
  Block anchor;
  Block epilogue;
  /// Blocks that compute more results, each element of what `epilogue`, or else the anchor, has stored for others.
  std::vector<Block> followers;
  /// The block that lays B out in panels, where it does not lie so, or widens these.
  Block panels;
  /// Whether the first tile of rows does so beside its sums, for the others; and whether it may: what follows the sums
  /// follows parts of them then.
  bool fills_panels = false;
  bool may_fill_panels = true;
  /// Elements of a row of a panel, where the number of columns is a multiple of that which the run tells.
  std::optional<int64_t> panel_length;
  /// The block that brings A to float32, where it is narrower; and whether each tile does so with the rows that it
  /// reads, again for each panel of B, rather than once, through memory.
  Block widened;
  bool widens_by_tile = false;
  /// The block that copies A for a matrix unit (PackForMatrixUnit).
  Block packed;
  /// The block that dequantises B, which the anchor does itself in the end where it is not `panels`.
  Block dequantized;
  /// Positions among the anchor's iterators.
  size_t vector = 0;
  std::optional<size_t> row;
  /// Dimension of the output that the vector axis is; the last if the output is contiguous along it.
  size_t vector_dim = 0;
  bool contiguous_output = false;
  /// Whether the vectors are those of B and divide its axis, rather than the pixels of a line.
  bool has_whole_vectors = false;
  /// Whether what a tile's steps read of B is one run of memory.
  bool panel_is_run = false;
  int64_t vector_extent = 1;
  int64_t lanes = 1;
  int64_t num_vectors = 1;
  int64_t num_rows = 1;
  /// An axis of which a tile has some values besides, each with vectors of its own: lines of pixels.
  std::optional<size_t> line;
  int64_t num_lines = 1;
  /// Axes of rows before that of vectors that pass by one panel of B, which then is read from memory once.
  std::vector<size_t> inner_rows;
  /// Bytes of A in one product of a batch, and how many of them may stay in the second cache; 0 where not known.
  int64_t a_bytes = 0;
  int64_t a_budget = 0;
  /// Bytes of A that a row has for itself.
  int64_t row_bytes = 0;
  /// Whether all of B stays in the second cache while rows pass by.
  bool b_stays = false;
  /// Whether threads rather share out rows than panels.
  bool shares_rows = false;
  /// Parts of the row axis that are cut into tiles each by itself, for threads to share out.
  int64_t row_parts = 1;
  /// Whether `num_rows` divides a part of the row axis: else its last tile is partial.
  bool rows_divide = true;
  /// The axis along which a sum is cut, those of the sum before it with it, and steps of it that the registers of a
  /// tile add up; 0: all of the sum.
  size_t cut = 0;
  int64_t tile_depth = 0;
  /// Whether the steps of such a part each have code of their own.
  bool unrolls_parts = false;
  /// Whether a window's taps along a line do: steps of pairs of int16 have no time to spare for a loop.
  bool unrolls_taps = false;
  /// Whether the anchor gives the sums of blocks of terms (kSumsOfBlocks), and `sums` adds these up: the loop over them
  /// is at `cut`. So many steps of a block have code of their own.
  bool has_blocks = false;
  int64_t unrolled_steps = 1;
  /// Such parts that a tile adds up in the first cache before they are added up where the sum is stored: B passes by a
  /// part at a time; 0: all of them.
  int64_t parts_in_memory = 0;
  /// The block that adds up the whole sum: what the anchor's registers did, or what the tile did, where sums are cut;
  /// else the anchor.
  Block sums;
  /// The block that adds up a tile's sums, where they are a part of the whole sum.
  Block tile_sums;
  /// Panels that share a copy of A's rows; 0: A is read where it lies. The copy is laid out for the tiles, or what
  /// `widened` stores, as it lies.
  int64_t copied_for = 0;
  bool widens_copy = false;
  /// How many steps of the sum before vectors of B are loaded they are asked for.
  int64_t prefetch_steps = 0;
  /// Pieces of work that threads should find where they do not share rows.
  int64_t pieces = 1;
  /// So many that none waits long for the last one.
  int64_t enough_pieces = 1;
  /// Up to so many copies of the epilogue are unrolled.
  int64_t most_copies = 1;
  /// Whether what follows the sums of a tile has code of its own for each row, and each of two parts of sums: else it
  /// is loops over what they store, whose code takes less time to make.
  bool has_long_code = true;

  /// Whether B is dequantised a panel at a time; and whether what the anchor loads of it, in registers.
  bool DequantizesPanels() const { return !dequantized.empty() && panels == dequantized; }
  bool DequantizesVectors() const { return !dequantized.empty() && panels.empty(); }
  /// Whether rows are not among what threads share: they have a part, a copy or a panel in common.
  bool RowsAreSerial() const { return parts_in_memory != 0 || copied_for != 0 || !panels.empty(); }
};

/// The block that copies an operand of `block`, which then reads the copy.
Block CopyOperand(Schedule* schedule, const Block& block, const Buffer& operand);
/// The block that brings the rows of A to a buffer of the kernel's own, where each step of a tile would widen the
/// scalar that it loads of them (WidenBuffers holds them in float32); empty if none does, or they are part of a larger
/// tensor.
Block CopyNarrowRows(Schedule* schedule, const Target& target, const ContractionPlan& plan);
/// Has panels of B that are narrower widened as they lie, once for all rows that pass by, where these are many tiles:
/// each would do so with every vector that it loads.
void WidenPanels(Schedule* schedule, const Target& target, ContractionPlan* plan);
/// The block that dequantises B for `anchor` alone (kDequantizedWeight); empty if none does.
Block FindDequantized(const Schedule& schedule, const Block& anchor);
/// Cuts the innermost of the loops over what is summed so that registers hold the scales of the rows that share them,
/// and the byte of several rows.
void CutByScales(Schedule* schedule, const Block& dequantized, std::vector<Loop>* depth);
/// Gives the rows of a byte code of their own; their loop is no longer among `depth`.
void UnrollRowsOfByte(Schedule* schedule, std::vector<Loop>* depth);
/// Fills the panels of B at the loop that they are for.
void PlacePanels(Schedule* schedule, const ContractionPlan& plan, const Loop& at);
/// Has the first tile of rows that passes by a panel widen what each of its steps reads of that, beside its sums.
void FillPanel(Schedule* schedule, const ContractionPlan& plan, const std::vector<Loop>& rows, const Loop& step);
/// Has B dequantised a panel at a time, once for all rows that pass by, where these are several tiles.
void DequantizePanels(const Schedule& schedule, const Target& target, ContractionPlan* plan);
/// Lays B out in panels of whole vectors of the output's last axis, zeros where that ends, if it does not lie so that a
/// tile reads it well: across that axis, with a partial vector at the end of each row, or each row on pages of its own.
void LayPanels(Schedule* schedule, const Target& target, ContractionPlan* plan);

/// The most tiles in a block of rows whose number the run tells: more would not make B's way to the rows any shorter
/// beside the arithmetic.
inline constexpr int64_t kMostTilesOfOpenBlock = 32;
/// The longest sums that are not added up in memory, a part at a time.
inline constexpr int64_t kMostDepth = 1024;
/// Chooses where the sums of a tile are cut.
void CutSums(const SBlock& block, const MatmulRoles& roles, const Target& target, ContractionPlan* plan);

bool Contains(const std::vector<size_t>& positions, size_t position);
/// Whether every index is an iterator, or a constant.
bool IsPlain(const BufferLoad& load);

/// The iterator that the last index of an access is: plainly, or in blocks of `block` (of channels, their number being
/// the access's dimension before).
struct LastIndex {
  size_t iter;
  std::optional<int64_t> block;
};
std::optional<LastIndex> LastIndexIter(const SBlock& block, const Array<PrimExpr>& indices);

/// The shortest rows of pixels.
inline constexpr int64_t kFewestLanes = 4;
/// The plan with the pixels of a row as the vector axis, of a convolution in NCHW; false if the block is none.
bool PlanPixels(const SBlock& block, const MatmulRoles& roles, const Array<PrimExpr>& output, const Target& target,
                ContractionPlan* plan);
/// Whether pixels make better vectors than those of `whole`, which divide their axis.
bool PixelsPay(const SBlock& block, const MatmulRoles& roles, const ContractionPlan& whole,
               const ContractionPlan& pixels, const Target& target);

/// Cuts a product into tiles, whatever its result is for: what reads it runs after all of it. False if it has none.
bool ScheduleContractionAlone(Schedule* schedule, const Block& block, const Target& target);

/// Chooses tile and axes of `plan->anchor`, a product; false if it has none.
bool PlanContraction(const Schedule& schedule, const Target& target, ContractionPlan* plan);

}  // namespace deuteron::tir
