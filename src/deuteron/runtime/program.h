/// \file
/// The byte code of an executable: what a compiled graph-level function does, call by call.
///
/// A function works on a *frame*:
///  - `heap`:    int64 cells. constants, dimensions of the inputs, and what is computed from them.
///  - `slots`:   addresses of tensor data, all that kernels see of tensors.
///  - `objects`: values (Tensor, Shape, scalars, String, arrays for tuples), where something else than a kernel needs
///  one.
///               The first hold the arguments.
///  - the arena: one block of memory; each planned tensor lies at an offset that a heap cell holds.
///
/// Code is a sequence of 32-bit words: opcode | length << 8, then the operands named at the opcode. Jumps only
/// lead forward. `Verify` (verifier.cc) has seen every program that runs: indices are in
/// range, counts fit, types of constants are known.
#pragma once

#include <tvm/ffi/container/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "deuteron/support/shared_bytes.h"

namespace deuteron::runtime {

enum class Opcode : uint8_t {
  kKernel,      ///< kernel, slots…, cells… (counts are the kernel's)
  kArith,       ///< ArithOp, destination cell, a, b, c (c only for kSelect)
  kEnter,       ///< sizes the arena by the function's `arena_size` cell and places the arena slots
  kMatch,       ///< object, type, what (string), is_input: checks it and binds cells
  kLoad,        ///< slot, object: the data of a tensor, made compact and aligned
  kLoadScalar,  ///< cell, object: an integer, bool or float scalar's bits
  kView,        ///< object, slot, type: a tensor over a slot's memory; valid while the function runs
  kAlloc,       ///< slot, object, type, output + 1 (0 = no output of the function): a new tensor
  kConst,       ///< object, constant
  kLiteral,     ///< object, literal
  kShape,       ///< object, cells…: a Shape
  kScalar,      ///< object, ScalarKind, cell
  kTuple,       ///< object, objects…
  kGetItem,     ///< object, tuple object, index
  kMove,        ///< object, object
  kCopy,        ///< object, object: a deep copy of the tensors in it
  kRelease,     ///< object: forgets it
  kCall,        ///< object, function, objects…
  kCallPacked,  ///< object, name (string), objects…
  kClosure,     ///< object, function, objects…: the function, to be called with these after its arguments
  kInvoke,      ///< object, closure object, objects…
  kLoop,        ///< object, closure object, trips (cell), type of the result, conditional, states, objects…: loop.h
  kIf,          ///< object, words: goes on `words` words further if the condition is false
  kJump,        ///< words: goes on `words` words further
  kReturn,      ///< object
};
inline constexpr int kOpcodeCount = static_cast<int>(Opcode::kReturn) + 1;

/// Integer operations, wrapping as int64 except add, sub, mul: an overflow there is an error. kExtent is its operand,
/// and an error if that is negative.
enum class ArithOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kTruncDiv,
  kTruncMod,
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,
  kEQ,
  kNE,
  kLT,
  kLE,
  kGT,
  kGE,
  kAnd,
  kOr,
  kNot,
  kSelect,
  kWrap32,
  kExtent,
};
inline constexpr int kArithOpCount = static_cast<int>(ArithOp::kExtent) + 1;

enum class ScalarKind : uint8_t { kInt, kBool, kFloat };

/// What is demanded of one dimension.
struct DimSpec {
  enum Kind : uint8_t { kAny, kBind, kCheck };
  Kind kind = kAny;
  /// kBind: where it is written; kCheck: what it must equal.
  uint32_t cell = 0;
  /// The expression as the user knows it ("n", "n * 2"), for messages: a string.
  uint32_t text = 0;
};

/// A type that values are matched against, or allocated by.
struct TypeSpec {
  enum Kind : uint8_t { kAny, kTensor, kShape, kTuple, kScalar };
  Kind kind = kAny;
  /// kTensor, kScalar: code 3 (opaque handle) with 0 bits = unknown.
  DLDataType dtype{kDLOpaqueHandle, 0, 0};
  /// kTensor, kShape: whether `dims` counts; else only the rank, or nothing (-1), is known.
  bool has_dims = false;
  int32_t ndim = -1;
  std::vector<DimSpec> dims;
  /// kTuple: types of lower index.
  std::vector<uint32_t> fields;
};

/// A kernel that the program calls.
struct KernelSpec {
  std::string symbol;
  uint32_t num_data = 0;
  uint32_t num_scalars = 0;
};

/// A tensor of the weights.
struct ConstantSpec {
  DLDataType dtype{kDLFloat, 32, 1};
  std::vector<int64_t> shape;
  /// In the weights, a multiple of 64.
  uint64_t offset = 0;
  /// TensorChecksum of its bytes (checksum.h), in artefacts.
  uint64_t checksum = 0;
};

/// A value that is no tensor.
struct Literal {
  enum Kind : uint8_t { kString, kDType, kNone };
  Kind kind = kNone;
  uint32_t string = 0;
  DLDataType dtype{kDLOpaqueHandle, 0, 0};
};

struct FunctionSpec {
  std::string name;
  /// Not callable by name from outside.
  bool is_private = false;
  /// As in the user's model.
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  /// Types of the parameters and of the result, for those who ask; code does the checks.
  std::vector<uint32_t> input_types;
  uint32_t output_type = 0;
  uint32_t num_objects = 0;
  uint32_t num_slots = 0;
  uint32_t num_cells = 0;
  /// Cells that hold constants; all others begin as 0.
  struct CellConstant {
    uint32_t cell = 0;
    int64_t value = 0;
  };
  std::vector<CellConstant> cell_constants;
  uint32_t arena_size = 0;
  struct ArenaSlot {
    uint32_t slot = 0;
    uint32_t offset = 0;
  };
  std::vector<ArenaSlot> arena_slots;
  struct ConstantSlot {
    uint32_t slot = 0;
    uint32_t constant = 0;
  };
  std::vector<ConstantSlot> constant_slots;
  std::vector<uint32_t> code;
  /// Where in the model calls come from: (word of the code, string), ascending.
  struct SourceMark {
    uint32_t word = 0;
    uint32_t text = 0;
  };
  std::vector<SourceMark> sources;
};

/// A function of a library that calls (kCallPacked) find by its symbol before any other.
struct ExternalSpec {
  std::string symbol;
  /// Who makes it callable (plugin.h).
  std::string plugin;
  /// What the plugin reads; any bytes. Functions of the same code share it, here and in an artefact.
  SharedBytes code;
  /// The names of its constants, as `code` knows them, and which ones they are.
  std::vector<std::string> constant_names;
  std::vector<uint32_t> constants;
};

struct Program {
  std::vector<std::string> strings;
  std::vector<TypeSpec> types;
  std::vector<KernelSpec> kernels;
  std::vector<ConstantSpec> constants;
  std::vector<Literal> literals;
  std::vector<FunctionSpec> functions;
  std::vector<ExternalSpec> externals;
  /// Bytes of all constants.
  uint64_t weights_bytes = 0;
};

/// Version of the byte code; changes with every change of what follows from this file but operations that are added:
/// a runtime that does not know them refuses them.
inline constexpr uint32_t kProgramVersion = 6;

/// Little-endian bytes, variable-length integers.
std::string Serialize(const Program& program);
/// The inverse; a ModelError if the bytes are no program of this version. The result is not verified.
Program Deserialize(const std::string& bytes);

/// Throws a ModelError that names the function and the word unless every index, count and jump of the program is
/// in range.
void Verify(const Program& program);

/// The program as text, one instruction a line.
std::string Disassemble(const Program& program);

}  // namespace deuteron::runtime
