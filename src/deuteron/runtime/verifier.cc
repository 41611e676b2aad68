/// \file
/// Checks a program before it runs: after this, the interpreter of byte code indexes without checks.
#include <algorithm>
#include <cstring>
#include <optional>

#include "deuteron/runtime/instruction.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

/// More than any compiler makes, less than exhausts memory.
constexpr uint32_t kMaxCount = 1u << 26;
constexpr int kMaxTypeDepth = 64;
constexpr uint64_t kMaxTypeNodes = 1u << 24;

/// What a type needs of the function that uses it.
struct TypeNeeds {
  uint32_t cells = 0;  ///< one more than the highest cell
  uint64_t nodes = 1;
  int depth = 1;
  bool allocates = false;
};

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  void Run() {
    for (size_t i = 0; i < program_.types.size(); ++i) Type(i);
    for (const ConstantSpec& constant : program_.constants) Constant(constant);
    for (const ExternalSpec& external : program_.externals) {
      for (const uint32_t constant : external.constants) Index(constant, program_.constants.size(), "constant");
      Demand(external.constants.size() == external.constant_names.size(), "a constant of a library without a name");
    }
    for (const Literal& literal : program_.literals) {
      Demand(literal.kind <= Literal::kNone, "an unknown kind of literal");
      if (literal.kind == Literal::kString) Index(literal.string, program_.strings.size(), "string");
    }
    for (const KernelSpec& kernel : program_.kernels) {
      Demand(kernel.num_data <= kMaxCount && kernel.num_scalars <= kMaxCount, "a kernel of too many arguments");
    }
    for (const FunctionSpec& function : program_.functions) Function(function);
  }

 private:
  void Demand(bool holds, const char* complaint) const {
    if (holds) return;
    std::string place =
        function_ == nullptr ? "" : " in function " + function_->name + ", word " + std::to_string(word_);
    DEUTERON_THROW(ModelError) << "invalid program" << place << ": " << complaint;
  }
  void Index(uint64_t index, uint64_t size, const char* what) const {
    if (index < size) return;
    Demand(false, (std::string(what) + " " + std::to_string(index) + " of " + std::to_string(size)).c_str());
  }

  static bool KnownDType(DLDataType dtype) {
    return dtype.code != kDLOpaqueHandle && dtype.bits > 0 && dtype.lanes > 0;
  }

  void Type(size_t index) {
    const TypeSpec& type = program_.types[index];
    TypeNeeds needs;
    Demand(type.kind <= TypeSpec::kScalar, "an unknown kind of type");
    Demand(type.ndim >= -1 && type.ndim <= 1024, "a rank out of range");
    Demand(!type.has_dims || static_cast<size_t>(type.ndim) == type.dims.size(), "a rank unlike its dimensions");
    needs.allocates = type.kind == TypeSpec::kTensor && type.has_dims && KnownDType(type.dtype);
    for (const DimSpec& dim : type.dims) {
      Demand(dim.kind <= DimSpec::kCheck, "an unknown kind of dimension");
      if (dim.kind != DimSpec::kAny) {
        Index(dim.text, program_.strings.size(), "string");
        Demand(dim.cell < kMaxCount, "a cell out of range");
        needs.cells = std::max(needs.cells, dim.cell + 1);
      }
      if (dim.kind != DimSpec::kCheck) needs.allocates = false;
    }
    for (const uint32_t field : type.fields) {
      Index(field, index, "type");
      const TypeNeeds& inner = needs_[field];
      needs.cells = std::max(needs.cells, inner.cells);
      needs.nodes += inner.nodes;
      needs.depth = std::max(needs.depth, inner.depth + 1);
      Demand(needs.nodes <= kMaxTypeNodes && needs.depth <= kMaxTypeDepth, "a type that is too large");
    }
    needs_.push_back(needs);
  }

  void Constant(const ConstantSpec& constant) {
    Demand(KnownDType(constant.dtype), "a constant of unknown dtype");
    uint64_t bytes = 0;
    try {
      bytes = static_cast<uint64_t>(TensorBytes(constant.shape, constant.dtype));
    } catch (const tvm::ffi::Error&) {
      Demand(false, "a constant whose size overflows");
    }
    Demand(constant.offset % kAlignment == 0, "a constant that is not aligned");
    Demand(constant.offset <= program_.weights_bytes && bytes <= program_.weights_bytes - constant.offset,
           "a constant outside of the weights");
  }

  void Function(const FunctionSpec& function) {
    function_ = &function;
    word_ = 0;
    Demand(function.num_objects <= kMaxCount && function.num_slots <= kMaxCount && function.num_cells <= kMaxCount,
           "a frame that is too large");
    constant_cells_.assign(function.num_cells, false);
    for (const auto& constant : function.cell_constants) {
      Index(constant.cell, function.num_cells, "cell");
      constant_cells_[constant.cell] = true;
    }
    Demand(function.input_types.size() <= function.num_objects, "more parameters than objects");
    Demand(function.input_names.size() == function.input_types.size(), "parameters without names");
    for (const uint32_t type : function.input_types) UseType(type, false);
    UseType(function.output_type, false);
    Index(function.arena_size, function.num_cells, "cell");
    for (const auto& arena_slot : function.arena_slots) {
      Index(arena_slot.slot, function.num_slots, "slot");
      Index(arena_slot.offset, function.num_cells, "cell");
    }
    for (const auto& constant_slot : function.constant_slots) {
      Index(constant_slot.slot, function.num_slots, "slot");
      Index(constant_slot.constant, program_.constants.size(), "constant");
    }
    for (const auto& mark : function.sources) Index(mark.text, program_.strings.size(), "string");
    Code(function);
    function_ = nullptr;
  }

  void UseType(uint32_t type, bool allocates) const {
    Index(type, needs_.size(), "type");
    const TypeNeeds& needs = needs_[type];
    Demand(needs.cells <= function_->num_cells, "a type that reads cells out of range");
    Demand(!allocates || needs.allocates, "an allocation without a full shape");
  }

  void Code(const FunctionSpec& function) {
    const std::vector<uint32_t>& code = function.code;
    Demand(code.size() < kMaxCount, "too much code");
    std::vector<bool> starts(code.size(), false);
    std::vector<size_t> targets;
    Opcode last = Opcode::kJump;
    for (size_t at = 0; at < code.size();) {
      word_ = at;
      starts[at] = true;
      const uint32_t length = LengthOf(code[at]);
      Demand((code[at] & 0xff) < kOpcodeCount, "an unknown opcode");
      Demand(length >= 1 && length <= code.size() - at, "an instruction that is longer than the code");
      last = OpcodeOf(code[at]);
      Instruction(function, &code[at], length, at, &targets);
      at += length;
    }
    Demand(last == Opcode::kReturn, "code that does not end with a return");
    for (const size_t target : targets) Demand(target < code.size() && starts[target], "a jump into nowhere");
  }

  void Instruction(const FunctionSpec& function, const uint32_t* words, uint32_t length, size_t at,
                   std::vector<size_t>* targets) {
    const Opcode opcode = OpcodeOf(words[0]);
    const char* pattern = kOpcodes[static_cast<size_t>(opcode)].operands;
    if (opcode == Opcode::kKernel) {
      Demand(length >= 2, "too few operands");
      Index(words[1], program_.kernels.size(), "kernel");
      const KernelSpec& kernel = program_.kernels[words[1]];
      Demand(uint64_t{length} == uint64_t{2} + kernel.num_data + kernel.num_scalars, "arguments unlike the kernel's");
      for (uint32_t i = 0; i < kernel.num_data; ++i) Index(words[2 + i], function.num_slots, "slot");
      for (uint32_t i = 0; i < kernel.num_scalars; ++i) {
        Index(words[2 + kernel.num_data + i], function.num_cells, "cell");
      }
      return;
    }
    const size_t fixed = std::strcspn(pattern, "*");
    const bool repeats = pattern[fixed] == '*';
    // The repeated operand may be missing altogether.
    Demand(repeats ? length >= fixed : length == fixed + 1, "a wrong number of operands");
    for (uint32_t i = 1; i < length; ++i) {
      Operand(function, pattern[std::min<size_t>(i - 1, fixed - 1)], words[i], at + length, targets);
    }
    if (opcode == Opcode::kCall) {
      Demand(program_.functions[words[2]].input_types.size() == length - 3,
             "arguments unlike the function's parameters");
    }
    if (opcode == Opcode::kClosure) {
      Demand(program_.functions[words[2]].input_types.size() >= length - 3, "a closure of more than its parameters");
    }
    if (opcode == Opcode::kAlloc) Demand(words[4] <= function.output_names.size(), "an output that is not there");
  }

  void Operand(const FunctionSpec& function, char kind, uint32_t value, size_t next, std::vector<size_t>* targets) {
    switch (kind) {
      case 'o':
        return Index(value, function.num_objects, "object");
      case 's':
        return Index(value, function.num_slots, "slot");
      case 'c':
        return Index(value, function.num_cells, "cell");
      case 'w':
        Index(value, function.num_cells, "cell");
        return Demand(!constant_cells_[value], "a constant cell is written");
      case 't':
        return UseType(value, false);
      case 'x':
        return UseType(value, true);
      case 'S':
        return Index(value, program_.strings.size(), "string");
      case 'f':
        return Index(value, program_.functions.size(), "function");
      case 'K':
        return Index(value, program_.constants.size(), "constant");
      case 'L':
        return Index(value, program_.literals.size(), "literal");
      case 'a':
        return Index(value, kArithOpCount, "arithmetic operation");
      case 'i':
        return Index(value, 3, "kind of scalar");
      case 'j':
        targets->push_back(next + value);
        return;
      default:
        return;
    }
  }

  const Program& program_;
  std::vector<TypeNeeds> needs_;
  std::vector<bool> constant_cells_;
  const FunctionSpec* function_ = nullptr;
  size_t word_ = 0;
};

}  // namespace

void Verify(const Program& program) { Verifier(program).Run(); }

std::string Disassemble(const Program& program) {
  std::string text;
  for (const FunctionSpec& function : program.functions) {
    text += (function.is_private ? "private function " : "function ") + function.name + "(";
    for (size_t i = 0; i < function.input_names.size(); ++i) text += (i > 0 ? ", " : "") + function.input_names[i];
    text += "): " + std::to_string(function.num_objects) + " objects, " + std::to_string(function.num_slots) +
            " slots, " + std::to_string(function.num_cells) + " cells\n";
    for (const auto& constant : function.cell_constants) {
      text += "  c" + std::to_string(constant.cell) + " = " + std::to_string(constant.value) + "\n";
    }
    for (const auto& slot : function.constant_slots) {
      text += "  s" + std::to_string(slot.slot) + " = constant " + std::to_string(slot.constant) + "\n";
    }
    for (const auto& slot : function.arena_slots) {
      text += "  s" + std::to_string(slot.slot) + " = arena + c" + std::to_string(slot.offset) + "\n";
    }
    for (size_t at = 0; at < function.code.size(); at += LengthOf(function.code[at])) {
      const uint32_t* words = &function.code[at];
      const OpcodeInfo& info = kOpcodes[static_cast<size_t>(OpcodeOf(words[0]))];
      text += "  " + std::to_string(at) + ": " + info.name;
      const size_t fixed = std::strcspn(info.operands, "*");
      for (uint32_t i = 1; i < LengthOf(words[0]); ++i) {
        if (OpcodeOf(words[0]) == Opcode::kKernel) {
          const KernelSpec& kernel = program.kernels[words[1]];
          text += i == 1 ? " " + kernel.symbol : (i < 2 + kernel.num_data ? " s" : " c") + std::to_string(words[i]);
          continue;
        }
        const char kind = info.operands[std::min<size_t>(i - 1, fixed - 1)];
        if (kind == 'S') {
          text += " \"" + program.strings[words[i]] + "\"";
        } else if (kind == 'f') {
          text += " " + program.functions[words[i]].name;
        } else {
          text += std::string(" ") + (kind == 'w' ? 'c' : kind == 'x' ? 't' : kind) + std::to_string(words[i]);
        }
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace deuteron::runtime
