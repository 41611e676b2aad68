#include "deuteron/topi/blocked_layout.h"

#include <cctype>

#include "deuteron/support/letters.h"

namespace deuteron::topi {

LayoutAxes ParseAxes(const std::string& layout) {
  LayoutAxes axes;
  int64_t block = 0;
  for (const char letter : layout) {
    if (std::isdigit(static_cast<unsigned char>(letter)) != 0) {
      block = block * 10 + (letter - '0');
      continue;
    }
    axes.push_back({CapitalLetter(letter), block});
    block = 0;
  }
  return axes;
}

int64_t BlockFactor(const LayoutAxes& axes, char letter) {
  int64_t factor = 1;
  for (const LayoutAxis& axis : axes) {
    if (axis.letter == letter && axis.block != 0) factor *= axis.block;
  }
  return factor;
}

PrimExpr LengthAlong(const Array<PrimExpr>& shape, const LayoutAxes& axes, char letter) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != LayoutAxis{letter, 0}) continue;
    const int64_t factor = BlockFactor(axes, letter);
    const PrimExpr& outer = shape[static_cast<int64_t>(i)];
    return factor == 1 ? outer : outer * factor;
  }
  DEUTERON_CHECK(false) << "a layout without " << letter;
  return PrimExpr();
}

PrimExpr PositionAlong(const Array<PrimExpr>& indices, const LayoutAxes& axes, char letter) {
  PrimExpr position;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == LayoutAxis{letter, 0}) position = indices[static_cast<int64_t>(i)];
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].letter == letter && axes[i].block != 0)
      position = position * axes[i].block + indices[static_cast<int64_t>(i)];
  }
  return position;
}

}  // namespace deuteron::topi
