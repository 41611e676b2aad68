/// \file
/// Reads blocks of kernels: their axes, regions and buffers.
#include "deuteron/script/parser_impl.h"
#include "deuteron/tir/analysis/block_analysis.h"

namespace deuteron::script {

using tir::Stmt;

namespace {

/// stop - start where text like `start:start + extent` says the extent.
PrimExpr ExtentOf(const PrimExpr& start, const PrimExpr& stop, arith::Analyzer* analyzer) {
  if (IsZero(start)) return stop;
  if (const auto* sum = stop.as<tir::AddNode>()) {
    if (ExprEqual(sum->a, start)) return sum->b;
  }
  return analyzer->Simplify(stop - start);
}

/// The stride of each dimension, in elements.
Array<PrimExpr> StridesOf(const tir::Buffer& buffer) {
  if (!buffer->strides.empty()) return buffer->strides;
  std::vector<PrimExpr> steps(buffer->shape.size());
  for (size_t i = steps.size(); i-- > 0;) {
    steps[i] = i + 1 == steps.size() ? MakeConst(buffer->shape[i].dtype(), 1) : steps[i + 1] * buffer->shape[i + 1];
  }
  return Array<PrimExpr>(steps.begin(), steps.end());
}

/// Where a region begins, in elements from the data of its buffer on.
PrimExpr BeginOf(const tir::BufferRegion& region) {
  const Array<PrimExpr> steps = StridesOf(region->buffer);
  const DataType dtype = steps.empty() ? DataType::Int(32) : steps[0].dtype();
  PrimExpr begin = region->buffer->elem_offset.defined() ? CastTo(dtype, region->buffer->elem_offset)
                                                         : PrimExpr(MakeConst(dtype, 0));
  for (size_t i = 0; i < steps.size(); ++i) begin = begin + CastTo(dtype, region->region[i]->min) * steps[i];
  return begin;
}

}  // namespace

Range Parser::RangeOf(const Syntax& begin_node, const Syntax& end_node) {
  auto [begin, end] = Operands(begin_node, end_node);
  return Located(begin_node.at,
                 [&, b = begin, e = end] { return Range::FromMinExtent(b, ExtentOf(b, e, &builder_->analyzer())); });
}

tir::Buffer Parser::BufferOf(const Syntax& call, std::string_view name, size_t first, bool is_given) {
  const auto argument = [&](size_t index, const char* key) -> const Syntax* {
    if (const Syntax* value = call.Find(key)) return value;
    return first + index < call.items.size() ? call.items[first + index] : nullptr;
  };
  CheckBufferArguments(call);
  const Syntax* shape = argument(0, "shape");
  if (shape == nullptr) Fail(call, "a buffer needs a shape");
  const Syntax* dtype = argument(1, "dtype");
  Array<PrimExpr> strides;
  if (const Syntax* given = call.Find("strides"); given != nullptr && !given->Is(SyntaxKind::kNone)) {
    strides = Dimensions(*given);
  }
  const Syntax* scope = call.Find("scope");
  const DataType element = dtype == nullptr ? DataType::Float(32) : DtypeOf(*dtype);
  const Array<PrimExpr> dims = Dimensions(*shape);
  if (!strides.empty() && strides.size() != dims.size()) Fail(call, "a buffer has a stride for each dimension");
  std::string where = scope == nullptr ? "global" : StringOf(*scope, "a scope");
  if (where.empty()) where = "global";
  const Syntax* offset = call.Find("elem_offset");
  const Syntax* factor = call.Find("offset_factor");
  PrimExpr begin;
  if (offset != nullptr && !offset->Is(SyntaxKind::kNone)) {
    begin = Dimension(*offset);
    if (IsZero(begin)) begin = PrimExpr();
  } else if (is_given && factor != nullptr && factor->int_value != 0) {
    begin = tir::Var(ToString(std::string(name) + "_elem_offset"), dims.empty() ? default_int_ : dims[0].dtype());
  }
  const int64_t multiple = factor == nullptr ? 1 : std::max<int64_t>(1, factor->int_value);
  tir::Buffer buffer =
      Located(call.at, [&] { return tir::Buffer(ToString(name), element, dims, where, strides, begin, multiple); });
  const Syntax* data = call.Find("data");
  if (data == nullptr || data->Is(SyntaxKind::kNone)) return buffer;
  const PrimExpr pointer = Prim(*data);
  if (!pointer.dtype().is_handle() || pointer->kind != ExprKind::kVar)
    Fail(*data, "expected a pointer, such as `A.data`");
  CopyOnWrite(&buffer)->data = Downcast<tir::Var>(pointer);
  return buffer;
}

void Parser::CheckBufferArguments(const Syntax& call) {
  for (const auto& [key, value] : call.keywords) {
    if (key == "shape" || key == "dtype" || key == "data" || key == "strides" || key == "scope") continue;
    // Promises that nothing relies on, and what an allocation is annotated with.
    if (key == "align" || key == "annotations" || key == "layout") continue;
    if (key == "offset_factor" && value->Is(SyntaxKind::kInt) && value->int_value >= 0) continue;
    if (key == "elem_offset") continue;
    const bool is_default = value->Is(SyntaxKind::kNone) || (value->Is(SyntaxKind::kInt) && value->int_value == 0) ||
                            (value->IsSequence() && value->items.empty());
    if (key == "axis_separators") {
      if (!is_default) Unsupported(*value, "`axis_separators` are not supported: leave them out");
    } else if (key == "offset_factor") {
      if (!is_default) Fail(*value, "expected a number of elements of which offsets are multiples, from 0 on");
    } else if (key == "buffer_type") {
      const std::string type = StringOf(*value, "a kind of buffer");
      if (type != "default" && !type.empty()) Unsupported(*value, "buffers of type \"" + type + "\" are not supported");
    } else {
      Fail(*value, "a buffer has shape, dtype, data, strides and scope, not " + Quote(key));
    }
  }
}

tir::Buffer Parser::ViewOf(const Syntax& call, std::string_view name) {
  tir::Buffer base = FindBuffer(*call.base->base);
  if (!call.keywords.empty()) Fail(call, "expected A.view(extent, …); T.decl_buffer says dtype and scope");
  Array<PrimExpr> dims;
  for (const Syntax* item : call.items) {
    for (const PrimExpr& dim : Dimensions(*item)) dims.push_back(dim);
  }
  tir::Buffer view(ToString(name), base->dtype, dims, base->scope, Array<PrimExpr>(), base->elem_offset);
  CopyOnWrite(&view)->data = base->data;
  return view;
}

tir::Buffer Parser::FindBuffer(const Syntax& node) {
  if (node.Is(SyntaxKind::kName)) {
    const Object* value = Find(node.text);
    if (value == nullptr) FailUndefined(node);
    if (const auto* buffer = AsNode<tir::BufferNode>(value)) return GetRef<tir::Buffer>(buffer);
  }
  Fail(node, "expected a buffer");
}

Array<PrimExpr> Parser::Indices(const Syntax& subscript) {
  Array<PrimExpr> indices;
  if (subscript.items.size() == 1 && subscript.items[0]->Is(SyntaxKind::kTuple) && subscript.items[0]->items.empty()) {
    return indices;
  }
  indices.reserve(static_cast<int64_t>(subscript.items.size()));
  for (const Syntax* item : subscript.items) {
    if (!item->Is(SyntaxKind::kSlice)) {
      indices.push_back(Prim(*item));
      continue;
    }
    if (item->items[0] == nullptr || item->items[1] == nullptr) Fail(*item, "a slice of an index needs both ends");
    auto [start, stop] = Operands(*item->items[0], *item->items[1]);
    const PrimExpr stride =
        item->items[2] == nullptr ? MakeConst(start.dtype(), 1) : PrimAs(*item->items[2], start.dtype());
    const auto length = AsConstInt(builder_->analyzer().Simplify(stop - start));
    const auto step = AsConstInt(stride);
    if (!length || !step || *step <= 0 || *length % *step != 0)
      Fail(*item, "the number of elements must be a constant");
    const int64_t lanes = *length / *step;
    if (lanes < 1 || lanes > 65535 || start.dtype().is_vector()) Fail(*item, "a vector has 2 to 65535 lanes");
    indices.push_back(lanes == 1 ? start : PrimExpr(tir::Ramp(start, stride, lanes)));
  }
  return indices;
}

std::pair<tir::Buffer, Array<PrimExpr>> Parser::ElementOf(const Syntax& subscript) {
  tir::Buffer buffer = FindBuffer(*subscript.base);
  Array<PrimExpr> indices = Indices(subscript);
  if (indices.size() != buffer->shape.size()) {
    Fail(subscript, "`" + std::string(buffer->name) + "` has " + std::to_string(buffer->shape.size()) +
                        " dimensions and is given " + std::to_string(indices.size()) + " indices");
  }
  for (auto it = matched_.find(buffer.get()); it != matched_.end(); it = matched_.find(buffer.get())) {
    // The dimensions of a matched buffer are the last ones of its region, those before are 1.
    const tir::BufferRegion& region = it->second;
    Array<PrimExpr> outer;
    const size_t skipped = region->region.size() - indices.size();
    for (size_t i = 0; i < region->region.size(); ++i) {
      const PrimExpr& min = region->region[i]->min;
      outer.push_back(i < skipped   ? min
                      : IsZero(min) ? indices[i - skipped]
                                    : min + CastTo(min.dtype(), indices[i - skipped]));
    }
    indices = outer;
    buffer = region->buffer;
  }
  return {buffer, indices};
}

void Parser::MatchBuffer(const Syntax& target, const Syntax& call) {
  if (call.items.empty()) Fail(call, "expected T.match_buffer(handle, shape, dtype)");
  const Syntax& source = *call.items[0];
  const auto* var = source.Is(SyntaxKind::kName) ? AsNode<tir::VarNode>(Find(source.text)) : nullptr;
  if (var != nullptr && header_ != nullptr) {
    if (blocks_.size() > 1) Fail(call, "a parameter is matched to a buffer outside of the blocks");
    const Temporarily signature(&in_signature_, true);
    const tir::Buffer buffer = BufferOf(call, target.text, 1, /*is_given=*/true);
    header_->buffer_map.Set(GetRef<tir::Var>(var), buffer);
    return scopes_.Define(target.text, buffer);
  }
  // In a block: another name for a region, which is resolved here.
  const tir::BufferRegion region = Region(source);
  const tir::Buffer buffer = BufferOf(call, target.text, 1, /*is_given=*/true);
  const size_t rank = buffer->shape.size();
  if (rank > region->region.size()) Fail(call, "the buffer has more dimensions than the region that it is matched to");
  for (size_t i = 0; i < region->region.size(); ++i) {
    const size_t skipped = region->region.size() - rank;
    const PrimExpr extent = i < skipped ? MakeConst(region->region[i]->extent.dtype(), 1) : buffer->shape[i - skipped];
    if (!builder_->analyzer().CanProveEqual(region->region[i]->extent,
                                            CastTo(region->region[i]->extent.dtype(), extent))) {
      Fail(call, "the buffer and the region that it is matched to differ in dimension " + std::to_string(i));
    }
  }
  if (buffer->dtype != region->buffer->dtype)
    Fail(call, "the buffer and the region that it is matched to differ in dtype");
  matched_.emplace(buffer.get(), region);
  matched_buffers_.push_back(buffer);
  scopes_.Define(target.text, buffer);
  MatchPlace(call, buffer, region);
}

void Parser::MatchPlace(const Syntax& call, const tir::Buffer& buffer, const tir::BufferRegion& region) {
  const auto match = [&](const Syntax& node, const PrimExpr& given, const PrimExpr& is, const std::string& what) {
    if (node.Is(SyntaxKind::kName) && given->kind == ExprKind::kVar) {
      scopes_.Define(node.text, CastTo(given.dtype(), is));
    } else if (!builder_->analyzer().CanProveEqual(CastTo(is.dtype(), given), is)) {
      Fail(node, "the buffer and the region that it is matched to differ in " + what);
    }
  };
  if (const Syntax* strides = call.Find("strides"); strides != nullptr && !buffer->strides.empty()) {
    const Array<PrimExpr> steps = StridesOf(region->buffer);
    const size_t skipped = steps.size() - buffer->strides.size();
    for (size_t i = 0; i < buffer->strides.size() && strides->IsSequence(); ++i) {
      match(*strides->items[i], buffer->strides[i], steps[i + skipped], "stride " + std::to_string(i));
    }
  }
  const Syntax* offset = call.Find("elem_offset");
  if (offset != nullptr && buffer->elem_offset.defined()) {
    match(*offset, buffer->elem_offset, BeginOf(region), "where they begin");
  }
}

PrimExpr Parser::OffsetOf(const tir::Buffer& buffer) {
  if (const auto it = matched_.find(buffer.get()); it != matched_.end()) return BeginOf(it->second);
  return buffer->elem_offset.defined() ? buffer->elem_offset : MakeConst(default_int_, 0);
}

BlockInProgress& Parser::OpenBlock(const Syntax& node) {
  if (blocks_.empty()) Fail(node, "this belongs into a block (`with T.sblock(…)`)");
  return *blocks_.back();
}

Stmt Parser::TirBlock(const Syntax& call) {
  const size_t at = call.at;
  const std::string name = call.items.empty() ? "" : StringOf(*call.items[0], "the name of the block");
  BlockInProgress block;
  // The span stands at the end of the line of `with`.
  const Span span = tokens_.At(":") && tokens_.Peek(1).kind == TokenKind::kNewline ? SpanOf(tokens_.Peek(1)) : Span();
  /// The block is open as long as its statements are read.
  struct Open {
    std::vector<BlockInProgress*>* blocks;
    ~Open() { blocks->pop_back(); }
  };
  Stmt body;
  {
    blocks_.push_back(&block);
    const Open open{&blocks_};
    body = TirSuite();
  }
  return Located(at, [&]() -> Stmt {
    tir::SBlock node(block.iter_vars, block.reads.value_or(Array<tir::BufferRegion>()),
                     block.writes.value_or(Array<tir::BufferRegion>()), name, body, block.init, block.alloc_buffers,
                     block.annotations, span);
    const bool is_root = name == "root" && block.iter_vars.empty();
    if (!is_root && (!block.reads.has_value() || !block.writes.has_value())) {
      const tir::BlockRegions regions = tir::DetectRegions(node);
      auto* fields = CopyOnWrite(&node);
      if (!block.reads.has_value()) fields->reads = regions.reads;
      if (!block.writes.has_value()) fields->writes = regions.writes;
    }
    return tir::SBlockRealize(block.iter_values, block.predicate.defined() ? block.predicate : True(), node, span);
  });
}

void Parser::AxisRemap(const Syntax& target, const Syntax& call) {
  BlockInProgress& block = OpenBlock(call);
  if (call.items.size() != 2 || !call.items[1]->IsSequence()) Fail(call, "expected T.axis.remap(\"SR\", [i, k])");
  const std::string kinds = StringOf(*call.items[0], "the kinds of the axes");
  const auto values = call.items[1]->items;
  const Syntax* const one[] = {&target};
  const std::span<const Syntax* const> targets =
      target.IsSequence() ? target.items : std::span<const Syntax* const>(one);
  if (kinds.size() != values.size() || kinds.size() != targets.size()) {
    Fail(call, std::to_string(targets.size()) + " names for " + std::to_string(kinds.size()) + " kinds of " +
                   std::to_string(values.size()) + " loops");
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != 'S' && kinds[i] != 'R') Fail(*call.items[0], "an axis is of kind S or R");
    if (!values[i]->Is(SyntaxKind::kName) || !targets[i]->Is(SyntaxKind::kName)) {
      Fail(*values[i], "T.axis.remap takes loop variables");
    }
    const PrimExpr value = Prim(*values[i]);
    const auto domain = loop_domains_.find(value.get());
    if (domain == loop_domains_.end()) Fail(*values[i], Quote(values[i]->text) + " is no loop variable");
    tir::Var var(ToString(targets[i]->text), value.dtype());
    block.iter_vars.push_back(
        IterVar(domain->second, var, kinds[i] == 'S' ? IterVarType::kSpatial : IterVarType::kReduce));
    block.iter_values.push_back(value);
    scopes_.Define(targets[i]->text, var);
  }
}

void Parser::AxisOne(const Syntax& target, const Syntax& call, IterVarType type) {
  BlockInProgress& block = OpenBlock(call);
  if (!target.Is(SyntaxKind::kName) || call.items.size() != 2) Fail(call, "expected v = T.axis.spatial(extent, value)");
  const Syntax& domain = *call.items[0];
  PrimExpr value;
  Range range;
  if (domain.Is(SyntaxKind::kTuple) && domain.items.size() == 2) {
    range = RangeOf(*domain.items[0], *domain.items[1]);
    value = PrimAs(*call.items[1], range->extent.dtype());
  } else {
    auto [extent, given] = Operands(domain, *call.items[1]);
    value = given;
    range = Range::FromMinExtent(MakeConst(extent.dtype(), 0), extent);
  }
  if (!value.dtype().is_integer() || value.dtype().is_vector()) Fail(*call.items[1], "an axis is bound to an integer");
  tir::Var var(ToString(target.text), value.dtype());
  block.iter_vars.push_back(IterVar(range, var, type));
  block.iter_values.push_back(value);
  scopes_.Define(target.text, var);
}

tir::BufferRegion Parser::Region(const Syntax& node) {
  tir::Buffer buffer;
  Array<Range> region;
  if (node.Is(SyntaxKind::kName)) {
    const tir::BufferRegion full = tir::BufferRegion::Full(FindBuffer(node));
    buffer = full->buffer;
    region = full->region;
  } else if (!node.Is(SyntaxKind::kSubscript)) {
    Fail(node, "expected a region of a buffer, such as A[i, 0:4]");
  } else {
    buffer = FindBuffer(*node.base);
    const bool empty = node.items.size() == 1 && node.items[0]->Is(SyntaxKind::kTuple);
    for (const Syntax* item : node.items) {
      if (empty) break;
      const size_t axis = region.size();
      if (axis >= buffer->shape.size()) Fail(*item, "more indices than the buffer has dimensions");
      if (!item->Is(SyntaxKind::kSlice)) {
        PrimExpr index = Prim(*item);
        const DataType dtype = index.dtype();
        region.push_back(Range::FromMinExtent(std::move(index), MakeConst(dtype, 1)));
      } else if (item->items[0] != nullptr && item->items[1] != nullptr) {
        region.push_back(RangeOf(*item->items[0], *item->items[1]));
      } else {
        const DataType dtype = buffer->shape[axis].dtype();
        const PrimExpr begin = item->items[0] != nullptr ? PrimAs(*item->items[0], dtype) : MakeConst(dtype, 0);
        const PrimExpr end = item->items[1] != nullptr ? PrimAs(*item->items[1], dtype) : buffer->shape[axis];
        region.push_back(Located(
            item->at, [&] { return Range::FromMinExtent(begin, ExtentOf(begin, end, &builder_->analyzer())); }));
      }
    }
    // What is left out is the whole axis.
    for (size_t axis = region.size(); axis < buffer->shape.size(); ++axis) {
      region.push_back(Range::FromMinExtent(MakeConst(buffer->shape[axis].dtype(), 0), buffer->shape[axis]));
    }
  }
  for (auto it = matched_.find(buffer.get()); it != matched_.end(); it = matched_.find(buffer.get())) {
    const tir::BufferRegion& around = it->second;
    Array<Range> outer;
    const size_t skipped = around->region.size() - region.size();
    for (size_t i = 0; i < around->region.size(); ++i) {
      const Range& range = around->region[i];
      if (i < skipped) {
        outer.push_back(range);
        continue;
      }
      const Range& inner = region[i - skipped];
      outer.push_back(Range::FromMinExtent(
          IsZero(range->min) ? inner->min : range->min + CastTo(range->min.dtype(), inner->min), inner->extent));
    }
    region = outer;
    buffer = around->buffer;
  }
  return tir::BufferRegion(buffer, region);
}

Array<tir::BufferRegion> Parser::Regions(const Syntax& call) {
  Array<tir::BufferRegion> regions;
  for (const Syntax* item : call.items) {
    if (item->IsSequence()) {
      for (const Syntax* inner : item->items) regions.push_back(Region(*inner));
    } else {
      regions.push_back(Region(*item));
    }
  }
  return regions;
}

}  // namespace deuteron::script
