/// \file
/// The operands of each instruction, as a table that the verifier and the disassembler read. Internal.
#pragma once

#include <array>
#include <cstdint>

#include "deuteron/runtime/program.h"

namespace deuteron::runtime {

/// What an instruction looks like. Operands, one letter each: o object, s slot, c cell, w cell that is written,
/// t type, x type that allocates, S string, k kernel, f function, K constant, L literal, a arithmetic operation,
/// i kind of scalar, n number, j jump. '*' repeats the last.
struct OpcodeInfo {
  const char* name;
  const char* operands;
};

inline constexpr std::array<OpcodeInfo, kOpcodeCount> kOpcodes = {{
    {"kernel", "k"},  // slots and cells follow, counted by the kernel
    {"arith", "awccc"},   {"enter", ""},     {"match", "otSn"},       {"load", "so"},      {"load_scalar", "wo"},
    {"view", "osx"},      {"alloc", "soxn"}, {"const", "oK"},         {"literal", "oL"},   {"shape", "oc*"},
    {"scalar", "oic"},    {"tuple", "oo*"},  {"get_item", "oon"},     {"move", "oo"},      {"copy", "oo"},
    {"release", "o"},     {"call", "ofo*"},  {"call_packed", "oSo*"}, {"closure", "ofo*"}, {"invoke", "ooo*"},
    {"loop", "ooctnno*"}, {"if", "oj"},      {"jump", "j"},           {"return", "o"},
}};

inline constexpr Opcode OpcodeOf(uint32_t word) { return static_cast<Opcode>(word & 0xff); }
/// Words of the instruction, the first included.
inline constexpr uint32_t LengthOf(uint32_t word) { return word >> 8; }

}  // namespace deuteron::runtime
