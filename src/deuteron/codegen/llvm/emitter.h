/// \file
/// Lowered TIR to LLVM IR: one kernel (runtime/kernel.h) a PrimFunc.
///
/// What it expects (tir/transform/lower.h makes it): no SBlocks, buffers of one dimension, compact; vectorised
/// loops already turned into Ramp/Broadcast expressions; an IfThenElse (or tir.if_then_else) whose
/// condition is a vector runs its body with the lanes off where the condition is false.
///
/// Memory: each buffer has an alias scope of its own, so that LLVM knows that no two overlap, in outlined
/// bodies of parallel loops too. A buffer of constant size, if it is not large (emit_memory.cc), is an alloca: LLVM's
/// SROA makes registers of it when every index is constant (the accumulators of an unrolled tile).
///
/// Values: a bool is i1 in registers and a byte in memory, an int4 (int2, float4_e2m1fn, …) i4 and a byte; float16 is
/// `half`, bfloat16 and floats of fewer bits are the integers of their codes: all these are computed in float32.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/codegen/llvm/compile.h"
#include "deuteron/codegen/llvm/llvm.h"
#include "deuteron/codegen/llvm/sharing_builder.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/function.h"

namespace deuteron::codegen {

/// The number that a loop is annotated with; nothing if it is not.
std::optional<int64_t> IntAnnotation(const tir::ForNode* op, const char* key);
/// The single index of an access; buffers without dimensions have one element.
PrimExpr FlatIndexOf(const tir::Buffer& buffer, const Array<PrimExpr>& indices);
/// The stride of a Ramp of constant stride; nothing of other indices.
std::optional<int64_t> RampStride(const PrimExpr& index);

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module* module, const Target& target, const CodegenOptions& options);

  /// Adds the kernel of `func` to the module under `symbol`.
  llvm::Function* Emit(const tir::PrimFunc& func, const std::string& symbol);
  /// Adds what several kernels do, whose entries pass it their scalars.
  llvm::Function* EmitShared(const tir::PrimFunc& func, const std::string& symbol);
  /// Adds a kernel that passes scalars of its own to `shared`.
  llvm::Function* EmitEntry(llvm::Function* shared, const std::vector<uint64_t>& scalars, const std::string& symbol);

 private:
  friend class Frame;

  // emit_function.cc: functions and parallel loops.
  struct FrameState {
    llvm::Function* function = nullptr;
    /// The kernel's arguments (runtime/kernel.h).
    llvm::Value* context = nullptr;
    llvm::Value* data = nullptr;
    llvm::Value* scalars = nullptr;
    llvm::Instruction* alloca_point = nullptr;
    /// Of CheckBounds, where what it says is put together; null if there is none.
    llvm::Value* message = nullptr;
    /// Of CheckBounds, where the frame fails for an access outside of a buffer, and what it says: the element, of how
    /// many.
    struct Outside {
      llvm::BasicBlock* block = nullptr;
      llvm::PHINode* at = nullptr;
      llvm::PHINode* elements = nullptr;
    };
    std::unordered_map<const tir::BufferNode*, Outside> outside;
    llvm::BasicBlock* exit = nullptr;
    llvm::PHINode* result = nullptr;
    /// Slots that hold scratch memory to release at the exit; null where there is none.
    std::vector<llvm::Value*> scratch_slots;
    /// An i1 that is set where an integer is divided by zero, which fails the frame at its end; null where none is.
    llvm::Value* zero_divided = nullptr;
    int64_t stack_bytes = 0;
    /// Data variables of the buffers that lie on this frame's stack.
    std::unordered_set<const tir::VarNode*> stack_buffers;
    /// What they were filled from by loops marked kFillsPassed: where that begins, and its bytes in an iteration.
    struct Source {
      llvm::Value* begin;
      int64_t step_bytes;
    };
    std::unordered_map<const tir::VarNode*, Source> sources;
    bool parallel_body = false;
    /// Whether what is emitted is in a parallel loop that one thread runs.
    bool in_lone_loop = false;
    /// What shapes the registers of a matrix unit have in all of this frame but where others are set; nothing: none.
    std::optional<std::array<uint8_t, 64>> tile_shapes;
  };
  void BeginFrame(FrameState* frame, llvm::Function* function, llvm::Value* context);
  void EndFrame();
  /// Notes where the values of parameters are, and loads them in the frame.
  void BindParameters(const tir::PrimFunc& func);
  /// Loads the value of a parameter in the frame; false if it is none.
  bool BindParameter(const tir::VarNode* var);
  void MakeAliasScopes(const tir::PrimFunc& func);
  void EmitParallelFor(const tir::ForNode* op);
  llvm::Function* OutlineParallelBody(const tir::ForNode* op, llvm::StructType* closure_type,
                                      const std::vector<const tir::VarNode*>& captured);
  llvm::Value* ContextField(unsigned field, llvm::Type* type);
  llvm::Value* LoadDataPointer(llvm::Value* address);
  /// Leaves the kernel with `code` (an i32) if `failed`.
  void ExitIf(llvm::Value* failed, llvm::Value* code);
  /// Leaves the kernel with an error unless `condition`.
  void ExitUnless(llvm::Value* condition, const std::string& message);

  // emit_stmt.cc
  void EmitStmt(const tir::Stmt& stmt);
  void EmitFor(const tir::ForNode* op);
  void EmitLoop(const tir::ForNode* op);
  /// `trips` if that is known, and then not 0.
  void EmitSerialLoop(llvm::Value* begin, llvm::Value* end, const tir::ForNode* op, std::optional<int64_t> trips);
  /// So many iterations from `begin` on, each of its own code, as many at once as that says.
  void EmitCopies(const tir::ForNode* op, llvm::Value* begin, int64_t count, int64_t side_by_side);
  /// How many of `count` iterations are best computed at once: more than one where they store a vector of what calls
  /// functions, each of which waits for the one before, and no iteration reads what another one stores.
  int64_t CopiesSideBySide(const tir::ForNode* op, int64_t count) const;
  void EmitIf(const tir::IfThenElseNode* op);
  void EmitWhile(const tir::WhileNode* op);
  void EmitAssert(const tir::AssertStmtNode* op);
  void EmitSeq(const tir::SeqStmtNode* op);

  // emit_prefetch.cc
  /// Emits the body of a loop, of whose marks for prefetching loads within are told.
  void EmitInPrefetchedLoop(const tir::ForNode* op, const tir::Var& var, llvm::Value* position,
                            const std::function<void()>& emit_body);
  /// Asks for what is loaded some steps further on, in loops that are marked for it (kPrefetchSteps), and for what lies
  /// behind it (kPrefetchNext).
  void EmitPrefetch(const tir::Buffer& buffer, const PrimExpr& index, llvm::Value* address);
  void EmitPrefetchOf(llvm::Value* address, int64_t offset, uint32_t locality);
  /// Whether what the index is in the first of those steps is known before them, as of loads in no loop further in.
  bool IsKnownBeforeSteps(const PrimExpr& index) const;
  /// An address that goes on by so many bytes with each of those steps.
  struct Ahead {
    llvm::Value* address = nullptr;
    llvm::Value* bytes = nullptr;
  };
  /// Emits it, and before the steps what it is at the first, if that is known there: else `emit` does in each of them,
  /// and what multiples of its number take is taken from the sums. Without an address if `emit` gives none.
  Ahead EmitStepped(const PrimExpr& index, const std::function<Ahead()>& emit);
  /// Of what lies behind that which the marked loops run through (kPrefetchNext): the part of `count` iterations of the
  /// innermost one, which loads at what `address` emits. False if nothing is to be asked for.
  bool EmitPrefetchOfNext(const tir::Buffer& buffer, const PrimExpr& index,
                          const std::function<llvm::Value*()>& address, int64_t count);
  /// The same of what a step loads in the first of the passes only, to fill for the others what they run through.
  void EmitPrefetchOfFill(const tir::IfThenElseNode* op);

  /// What a statement loads first, where the loops in it begin; an index that is null if that is a buffer of the
  /// kernel's own, or no run.
  struct FirstLoad {
    tir::Buffer buffer;
    PrimExpr index;
  };
  FirstLoad FindFirstLoad(const tir::Stmt& stmt) const;
  /// Takes note of what a loop marked kFillsPassed fills a buffer from, before it does.
  void NoteSource(const tir::ForNode* op);

  /// Of the rows that the next iteration of the loop marked kPrefetchRows reads: a part, where this one's are read at
  /// the index. False if nothing is to be asked for.
  bool EmitPrefetchOfRows(const tir::Buffer& buffer, const PrimExpr& index);

  // emit_matrix_tile.cc
  /// The nest of loops as products of tiles; false if it is no such, or the target has no unit for it. `zeros`: what
  /// stands before it; where that sets the tile to 0, registers are, and it has been emitted with it.
  bool EmitMatrixTile(const tir::ForNode* op, const tir::Stmt& zeros = {});
  void SetTileShapes(const std::array<uint8_t, 64>& shapes, llvm::IRBuilderBase* builder);
  /// Emits a loop. Where all tiles in it have other shapes than the function's others, those are set around it.
  void WithTileShapes(const tir::ForNode* op, const std::function<void()>& emit);
  /// The same where only the run tells how many rows there are, returned, of which the registers of row tile i hold at
  /// most so many each.
  llvm::Value* SetTileShapesOfRows(const std::array<uint8_t, 64>& shapes, const PrimExpr& num_rows, int64_t row_tiles,
                                   int64_t most, const std::function<std::vector<int64_t>(int64_t)>& registers_of);

  // emit_bounds.cc
  /// Leaves the kernel with an error if the element at `index`, or one of those whose lanes are on, lies outside; does
  /// nothing unless it is asked for.
  void CheckBounds(const tir::Buffer& buffer, const PrimExpr& index);
  /// Leaves for the block that fails for an access of an element of the buffer, which has so many (both i64).
  void FailOutside(const tir::Buffer& buffer, llvm::Value* at, llvm::Value* elements);
  void EmitOutside(const tir::Buffer& buffer, llvm::Value* at, llvm::Value* elements);

  // emit_masked.cc
  /// A vector from `address`, with zeros in the lanes that `mask` has off, which are not read.
  llvm::Value* EmitMaskedLoad(llvm::Type* type, llvm::Value* address, const tir::Buffer& buffer, llvm::Value* mask);
  /// Stores the lanes that `mask_` has on side by side, at `address`.
  void EmitMaskedStore(llvm::Value* value, llvm::Value* address, const tir::Buffer& buffer);

  // emit_memory.cc
  void EmitAlloc(const tir::Buffer& buffer);
  void EmitStore(const tir::BufferStoreNode* op);
  llvm::Value* EmitLoad(const tir::BufferLoadNode* op);
  /// Lanes `stride` elements apart, from vectors that are read whole and shuffled. Reads nothing beyond the first and
  /// the last lane, under a mask only what its lanes want.
  llvm::Value* EmitStridedLoad(const tir::Buffer& buffer, const tir::RampNode* ramp, int64_t stride);
  /// Lanes at constant distances from each other that one vector spans, as an image that is enlarged, or read
  /// backwards, has them: that
  /// vector, shuffled; null if `index` is no such. Reads as EmitStridedLoad does.
  llvm::Value* EmitSpannedLoad(const tir::Buffer& buffer, const PrimExpr& index);
  /// The same of a few runs that lie apart: elements at constant `offsets` from `first`; null if they are many.
  llvm::Value* EmitRuns(const tir::Buffer& buffer, const PrimExpr& first, const std::vector<int64_t>& offsets);
  // emit_gather.cc
  /// Lanes that lie anywhere, as they are in memory.
  llvm::Value* EmitGather(const tir::Buffer& buffer, const PrimExpr& index);
  /// Whether the code for that compares lanes with the extent of the buffer.
  bool LooksForNearLanes(const tir::Buffer& buffer, const PrimExpr& index) const;
  // emit_transpose.cc
  /// One of the loads next to each other, at a stride, from a tile on the stack at constant places; null if it is no
  /// such load.
  llvm::Value* EmitTransposedLoad(const tir::Buffer& buffer, const tir::RampNode* ramp, int64_t stride);
  /// Whether it loads elements that lie side by side.
  static bool IsVectorLoad(const PrimExpr& expr);
  /// A load of that kind where `inside` holds, else zeros.
  llvm::Value* EmitLoadOrZeros(const tir::BufferLoadNode* op, llvm::Value* inside);
  /// Whether a contiguous access of `lanes` elements under the mask may touch the lanes that are off.
  bool MayAccessWhole(const tir::Buffer& buffer, int64_t lanes);
  llvm::Value* ElementAddress(const tir::Buffer& buffer, llvm::Value* index);
  llvm::Value* ElementAddress(const tir::Buffer& buffer, const PrimExpr& index);
  llvm::Value* BufferPointer(const tir::Buffer& buffer);
  template <typename Inst>
  Inst* Annotate(Inst* instruction, const tir::Buffer& buffer);
  llvm::Value* ToMemory(llvm::Value* value, DataType type);
  llvm::Value* FromMemory(llvm::Value* value, DataType type);
  llvm::Value* FullMask(int64_t lanes);

  // emit_index.cc
  /// An index: int64, scalar or vector, computed without overflow.
  llvm::Value* EmitIndex(const PrimExpr& expr);
  /// `rest`, null if it is 0, plus a constant.
  struct IndexSum {
    llvm::Value* rest = nullptr;
    int64_t constant = 0;
  };
  /// Whether an index is a sum, difference or product.
  static bool IsIndexSum(const PrimExprNode* expr);
  llvm::Value* EmitWhole(const IndexSum& sum);
  IndexSum IndexSumOf(const tir::BinaryNode* op);
  IndexSum IndexSumOf(const PrimExpr& expr);

  // emit_expr.cc
  llvm::Value* EmitExpr(const PrimExpr& expr);
  llvm::Value* EmitConst(DataType type, const PrimExprNode* expr);
  /// Whether the value of `expr` comes out of a buffer.
  bool IsData(const PrimExpr& expr) const;
  void BindVar(const tir::Var& var, const PrimExpr& expr, llvm::Value* value);
  llvm::Value* EmitBinary(const tir::BinaryNode* op);
  /// `b_is_extent`: it is made of shapes and loop variables alone, so that one divides by it without a check.
  llvm::Value* EmitInteger(ExprKind kind, DataType type, llvm::Value* a, llvm::Value* b, bool b_is_extent);
  llvm::Value* EmitDivision(ExprKind kind, bool is_signed, llvm::Value* a, llvm::Value* b, bool b_is_extent);
  llvm::Value* SafeDivisor(bool is_signed, llvm::Value* divisor);
  llvm::Value* EmitCompare(ExprKind kind, DataType operand, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitLogical(const tir::BinaryNode* op);
  llvm::Value* EmitConditional(DataType type, const PrimExpr& condition, const PrimExpr& then_value,
                               const PrimExpr& else_value);
  llvm::Value* EmitVectorConditional(llvm::Value* condition, const PrimExpr& then_value, const PrimExpr& else_value);
  llvm::Value* EmitShuffle(const tir::ShuffleNode* op);
  /// Evaluates under `condition` (and the mask around it).
  llvm::Value* EmitMasked(const PrimExpr& expr, llvm::Value* condition);

  // emit_float.cc
  llvm::Value* EmitFloat(ExprKind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitMinMax(bool max, llvm::Value* a, llvm::Value* b);
  /// `a` where it is the greater, or the less, of two floating-point numbers, else `b`.
  llvm::Value* EmitGreater(bool max, llvm::Value* a, llvm::Value* b);
  /// By lane, of a floating-point number.
  llvm::Value* IsNaN(llvm::Value* value);
  /// A sum of vectors one of which is a product; null if it is no such sum, or the target has no instruction for it.
  llvm::Value* EmitMultiplyAdd(const tir::BinaryNode* op);
  bool HasMultiplyAdd() const;

  // emit_convert.cc
  llvm::Type* ScalarType(DataType type);
  llvm::Type* RegisterType(DataType type);
  llvm::Type* MemoryType(DataType type);
  llvm::Value* EmitCast(const tir::CastNode* op);
  llvm::Value* EmitCast(DataType to, DataType from, llvm::Value* value);
  llvm::Value* Saturate(DataType to, llvm::Value* value, llvm::Type* type);
  llvm::Type* WithLanesOf(llvm::Type* element, llvm::Value* like);
  llvm::Value* Splat(llvm::Value* value, int64_t lanes);

  // emit_narrow_float.cc
  /// Whether the CPU converts float16.
  bool ConvertsHalf() const;
  /// A float of 16 bits or fewer as float32; other floats as they are.
  llvm::Value* Widen(DataType type, llvm::Value* value);
  /// Back again.
  llvm::Value* Narrow(DataType type, llvm::Value* value);
  /// The codes of bfloat16 by the CPU's instruction, in a branch rarely taken by `emit_exact`; null if there is none
  /// for so many lanes.
  llvm::Value* NarrowByInstruction(llvm::Value* value, const std::function<llvm::Value*()>& emit_exact);
  /// Two floats, rounded to bfloat16, as one element (tir.pack_bf16x2).
  llvm::Value* EmitFloatPair(llvm::Value* low, llvm::Value* high);
  llvm::Value* RoundToOddFloat32(llvm::Value* value);

  // emit_intrinsic.cc
  llvm::Value* EmitCall(const tir::CallNode* op);
  llvm::Value* EmitFloatIntrinsic(const std::string& name, DataType type, std::vector<llvm::Value*> args);
  llvm::Value* EmitPow(const tir::CallNode* op);
  llvm::Value* PowerByRoots(llvm::Value* x, double n);
  /// sum + dot, a call of one of the intrinsics of that name; `sum` may be null: 0.
  llvm::Value* EmitDot(llvm::Value* sum, const tir::CallNode* dot, int64_t lanes);
  /// The sums of the halves of elements of 32 bits, or their differences.
  llvm::Value* EmitPairs(std::string_view name, llvm::Value* x, llvm::Value* y);
  llvm::Value* EmitExternCall(const tir::CallNode* op);
  /// emit_byte_table.cc
  llvm::Value* EmitByteTable(const tir::CallNode* op);
  /// Calls a function of C's libm for each lane.
  llvm::Value* CallLibm(const std::string& name, const std::vector<llvm::Value*>& args);
  /// `fast` where `is_near` in all lanes, else the function of libm.
  llvm::Value* EmitUnlessFar(llvm::Value* is_near, llvm::Value* fast, const std::string& name,
                             const std::vector<llvm::Value*>& args);
  /// The same, of what `emit_slow` makes instead.
  llvm::Value* EmitUnlessFar(llvm::Value* is_near, llvm::Value* fast, const std::function<llvm::Value*()>& emit_slow);
  /// C's fmod.
  llvm::Value* EmitRemainder(llvm::Value* x, llvm::Value* y);
  llvm::Value* Unary(llvm::Intrinsic::ID id, llvm::Value* value) { return builder_.CreateUnaryIntrinsic(id, value); }

  const Target& target_;
  const CodegenOptions options_;
  const tir::CostModel costs_;
  llvm::Module* module_;
  llvm::LLVMContext& llvm_;
  SharingBuilder builder_;
  FrameState* frame_ = nullptr;
  /// Where buffers, by their data variables, and scalars that are parameters are: in `data`, or in `scalars`.
  struct Parameter {
    bool is_buffer;
    uint64_t position;
  };
  std::unordered_map<const tir::VarNode*, Parameter> parameters_;
  /// Values of variables; pointers of buffers, by their data variables.
  std::unordered_map<const tir::VarNode*, llvm::Value*> values_;
  struct AliasScope {
    llvm::MDNode* scope = nullptr;
    llvm::MDNode* others = nullptr;
    /// Whether nothing is stored there while the kernel runs.
    bool is_read_only = false;
  };
  std::unordered_map<const tir::VarNode*, AliasScope> alias_scopes_;
  /// The vectors that a tile was transposed into, for the loads that follow in the same block; until a store to it.
  struct TransposedTile {
    const llvm::BasicBlock* block = nullptr;
    const tir::VarNode* buffer = nullptr;
    /// It begins at `begin` and this, if that is not null.
    const llvm::Value* rest = nullptr;
    int64_t stride = 0;
    int64_t lanes_on = 0;
    int64_t begin = 0;
    std::vector<llvm::Value*> columns;
    bool IsSameTile(const TransposedTile& other) const {
      return block == other.block && buffer == other.buffer && rest == other.rest && stride == other.stride &&
             lanes_on == other.lanes_on && begin == other.begin && !columns.empty();
    }
  } transposed_;
  struct Prefetch {
    /// The innermost loop that is marked kPrefetchSteps, and of how many steps; null: none.
    tir::Var loop;
    int64_t steps = 0;
    /// Its number, and addresses that go on with it, each by so many bytes.
    llvm::PHINode* counter = nullptr;
    std::vector<std::pair<llvm::PHINode*, llvm::Value*>> stepped;
    /// Whether what is emitted stands before its first step.
    bool is_before = false;
    /// A loop, and how far it is.
    struct Pass {
      tir::Var var;
      PrimExpr extent;
      llvm::Value* position;
    };
    /// The innermost loop that is marked kPrefetchRows, null: none; and those in it, to the innermost.
    tir::Var rows;
    std::vector<Pass> along_rows;
    /// The loops from one marked kPrefetchNext to the innermost.
    std::vector<Pass> passes;
    /// What `loop` has asked for already: the index with the values of its variables, and the line that constants lead
    /// to; and whether for what is next, and for the next rows.
    std::set<std::pair<std::vector<const void*>, int64_t>> asked;
    bool asked_for_next = false;
    bool asked_for_rows = false;
  } prefetch_;
  llvm::Value* PositionOf(const Prefetch::Pass& loop);
  /// Lanes that are on; null = all.
  llvm::Value* mask_ = nullptr;
  /// Whether what is stored is the next one of a tile's sums: what holds of a step holds of many.
  bool is_sum_ = false;
  /// How many these are, where they are the first ones and at least one; null: not known.
  llvm::Value* first_lanes_ = nullptr;
  bool index_math_ = false;
  /// Those that arguments bind, in their shapes and as numbers: what is computed of them alone stays the same in a run.
  std::unordered_set<const tir::VarNode*> symbols_;
  /// Variables whose values come out of buffers.
  std::unordered_set<const tir::VarNode*> data_vars_;
  /// Copies that the unrolled loops around make.
  int64_t unroll_copies_ = 1;
  std::string symbol_;
  int outlined_ = 0;
};

template <typename Inst>
Inst* KernelEmitter::Annotate(Inst* instruction, const tir::Buffer& buffer) {
  const auto it = alias_scopes_.find(buffer->data.get());
  if (it == alias_scopes_.end()) return instruction;
  instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, it->second.scope);
  if (it->second.others != nullptr) {
    instruction->setMetadata(llvm::LLVMContext::MD_noalias, it->second.others);
  }
  // What LLVM would else prove for each pair of a load and what it comes after.
  if (it->second.is_read_only && llvm::isa<llvm::LoadInst>(instruction)) {
    instruction->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(llvm_, {}));
  }
  return instruction;
}

/// How many of the first lanes a constant `mask` keeps on, if it keeps the rest off (the tail of a vectorised loop);
/// else 0.
int64_t LanesOn(const llvm::Value* mask);

/// A constant mask with the lanes between those that it keeps on; other masks as they are.
llvm::Value* WithoutGaps(llvm::Value* mask);

/// What a vector has in all its lanes, where it is a broadcast; else `expr` itself.
const PrimExpr& ScalarOf(const PrimExpr& expr);

/// Whether `expr` may be evaluated where its value is not needed: no load, no integer division, no call
/// that may fault.
bool IsSpeculatable(const PrimExpr& expr);

}  // namespace deuteron::codegen
