/// \file
/// Arithmetic of the byte code: what is computed from the dimensions of the inputs.
#include <algorithm>

#include "deuteron/runtime/instruction.h"
#include "deuteron/runtime/vm.h"

namespace deuteron::runtime {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

}  // namespace

const char* Arith(const uint32_t* words, Frame* frame) {
  const int64_t a = frame->cells[words[3]];
  const int64_t b = frame->cells[words[4]];
  int64_t& result = frame->cells[words[2]];
  const auto op = static_cast<ArithOp>(words[1]);
  bool overflow = false;
  const char* problem = nullptr;
  const auto require_divisor = [&] {
    if (b == 0) problem = "is divided by zero at these sizes of the inputs; give others";
    overflow = a == INT64_MIN && b == -1;
    return b != 0 && !overflow;
  };
  switch (op) {
    case ArithOp::kAdd:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case ArithOp::kSub:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case ArithOp::kMul:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case ArithOp::kTruncDiv:
      if (require_divisor()) result = a / b;
      break;
    case ArithOp::kTruncMod:
      if (require_divisor()) result = a % b;
      break;
    case ArithOp::kFloorDiv:
      if (require_divisor()) result = FloorDivide(a, b);
      break;
    case ArithOp::kFloorMod:
      if (require_divisor()) result = a - FloorDivide(a, b) * b;
      break;
    case ArithOp::kMin:
      result = std::min(a, b);
      break;
    case ArithOp::kMax:
      result = std::max(a, b);
      break;
    case ArithOp::kEQ:
      result = a == b;
      break;
    case ArithOp::kNE:
      result = a != b;
      break;
    case ArithOp::kLT:
      result = a < b;
      break;
    case ArithOp::kLE:
      result = a <= b;
      break;
    case ArithOp::kGT:
      result = a > b;
      break;
    case ArithOp::kGE:
      result = a >= b;
      break;
    case ArithOp::kAnd:
      result = a != 0 && b != 0;
      break;
    case ArithOp::kOr:
      result = a != 0 || b != 0;
      break;
    case ArithOp::kNot:
      result = a == 0;
      break;
    case ArithOp::kSelect:
      result = a != 0 ? b : frame->cells[words[5]];
      break;
    case ArithOp::kWrap32:
      result = static_cast<int32_t>(a);
      break;
    case ArithOp::kExtent:
      if (a < 0) problem = "has a negative extent at these sizes of the inputs; give others";
      result = a;
      break;
  }
  return overflow ? "overflows at these sizes of the inputs; give others" : problem;
}

}  // namespace deuteron::runtime
