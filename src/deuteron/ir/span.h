/// \file
/// Where a piece of the IR comes from.
#pragma once

#include "deuteron/ir/object.h"

namespace deuteron {

/// A place in the user's own words: an ONNX node ("/layer1/conv1", line 0) or a line of text.
class SpanNode : public Object {
 public:
  /// Name of the ONNX node, or path of the text.
  String source;
  /// From 1; 0 for a model that has no lines.
  int64_t line = 0;
  int64_t column = 0;

  DEUTERON_TREE_NODE
  DEUTERON_NODE("deuteron.Span", SpanNode, Object);
};

class Span : public ObjectRef {
 public:
  explicit Span(String source, int64_t line = 0, int64_t column = 0);
  DEUTERON_REF(Span, ObjectRef, SpanNode);
};

}  // namespace deuteron
