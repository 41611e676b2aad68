#include "deuteron/ir/object.h"

#include <gtest/gtest.h>

#include "deuteron/ir/span.h"

namespace deuteron {
namespace {

TEST(NodeReflection, IsCompleteBeforeANodeIsMade) {
  static int told = 0;
  static NodeReflection late{+[] {
    ++told;
    // Defaults of fields may be nodes.
    MakeNode<SpanNode>();
  }};
  EXPECT_EQ(told, 0);
  MakeNode<SpanNode>();
  EXPECT_EQ(told, 1);
  MakeNode<SpanNode>();
  NodeReflection::Complete();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace deuteron
