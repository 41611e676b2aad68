/// \file
/// Operators of object detection.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class ROIAlignAttrsNode : public AttrsNode {
 public:
  /// Height and width of the result.
  Array<int64_t> pooled_size = kEmpty;
  /// Of the coordinates of regions to those of the data.
  double spatial_scale = 1.0;
  /// Samples a bin on each axis; below 1: as many as the bin has elements, rounded up.
  int64_t sample_ratio = -1;
  /// Regions may be smaller than one element.
  bool aligned = false;
  String layout = "NCHW";
  /// "avg", "max": of the samples of a bin. "max_term": the greatest of the four terms, element times weight, of which
  /// bilinear samples are sums: what ONNX's reference and ONNX Runtime take for the greatest.
  String mode = "avg";
  DEUTERON_NODE("deuteron.relax.ROIAlignAttrs", ROIAlignAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ROIAlignAttrs)

class ROIPoolAttrsNode : public AttrsNode {
 public:
  /// Height and width of the result.
  Array<int64_t> pooled_size = kEmpty;
  /// Of the coordinates of regions to those of the data.
  double spatial_scale = 1.0;
  String layout = "NCHW";
  DEUTERON_NODE("deuteron.relax.ROIPoolAttrs", ROIPoolAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ROIPoolAttrs)

/// Rows of the table.
std::vector<OpInfo> VisionOps();

namespace vision {

/// Regions `rois` (count, 5) of batch index, x and y of the first corner, x and y of the last, resampled bilinearly
/// from data (n, c, h, w) (or NHWC) to (count, c, pooled height, pooled width) (or channels last).
Expr ROIAlign(Expr data, Expr rois, std::vector<int64_t> pooled_size, double spatial_scale, int64_t sample_ratio = -1,
              bool aligned = false, std::string layout = "NCHW", std::string mode = "avg");

/// Greedy suppression of boxes that overlap (N. Bodla et al., "Soft-NMS", arXiv:1704.04503, algorithm 1, hard). Of
/// boxes with sides (b, 4, n), top, left, bottom and right, and scores (b, classes, n) the indices (b, classes, most),
/// int64, of those chosen of each class, in the order of their scores, equal ones in their own; -1 behind them. A box
/// counts if its score is above `least`, and is chosen unless what it shares with a chosen one, if anything, is more
/// than `overlap` of what the two cover. Both are scalars. A box whose first side is not before its last shares
/// nothing.
Expr BestBoxes(Expr sides, Expr scores, Expr overlap, Expr least, PrimExpr most);

/// The greatest element of each bin of regions `rois` (count, 5), as above, whose corners are rounded to elements
/// (halves away from zero), of data (n, c, h, w): (count, c, pooled height, pooled width). 0 where a bin has none.
Expr ROIPool(Expr data, Expr rois, std::vector<int64_t> pooled_size, double spatial_scale);

}  // namespace vision
}  // namespace deuteron::relax
