#include "deuteron/ir/span.h"

namespace deuteron {

Span::Span(String source, int64_t line, int64_t column) {
  auto node = MakeNode<SpanNode>();
  node->source = std::move(source);
  node->line = line;
  node->column = column;
  data_ = std::move(node);
}

}  // namespace deuteron
