/// \file
/// VMShapeLower: shapes become cells of a heap that calls of the run time fill and read.
///
/// Purpose: a virtual machine as TVM's knows no symbols. Each function gets a heap with a cell for each of its symbols
/// and of the expressions of them; `vm.builtin.match_shape` compares the shapes of parameters, and of what match_casts
/// take, with cells and numbers, or stores them there (not those of weights, the parameters from num_input on, that are
/// tensors without symbols); a function `shape_func` computes the cells that follow from those known so far;
/// `vm.builtin.make_shape` and `make_prim_value` read them where a shape or a scalar is needed. The declared types of
/// parameters, of match_casts and of results are checked by `vm.builtin.check_tensor_info` and the like.
///
/// Our own byte code matches shapes by itself (codegen/vm/shape_cells.h): the pass is for those who compare modules
/// with TVM's, or bring a run time of their own.
///
/// What it must not do: check again what the types say already; compute an expression before all of its symbols are
/// known; write the calls into a pure function or a dataflow block, which it refuses.
///
/// Place: the last of the graph passes, after RemovePurityChecking, CallTIRRewrite and ComputePrimValue.
#include <algorithm>
#include <unordered_map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/effects.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/typed_rewriter.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax {
namespace {

constexpr const char* kName = "VMShapeLower";

/// What `match_shape` does with an extent, and `make_shape` with a field.
enum MatchCode : int64_t { kEqualsNumber = 0, kStores = 1, kNothing = 2, kEqualsCell = 3 };
enum MakeCode : int64_t { kNumber = 0, kLoads = 1 };

/// The cells of one function: symbols, and expressions of symbols, in the order in which the function mentions them.
class ShapeCells {
 public:
  struct Cell {
    PrimExpr value;
    bool computed = false;
    /// Distinct symbols that are not known yet.
    size_t missing = 0;
    /// Of a symbol: the expressions that it is in.
    std::vector<size_t> users;
  };

  explicit ShapeCells(const Function& function) {
    for (const Var& param : function->params) Mention(param.ty());
    Mention(function->body);
    for (size_t i = 0; i < cells_.size(); ++i) LinkUsers(i);
  }

  size_t size() const { return cells_.size(); }
  size_t IndexOf(const PrimExpr& value) const {
    const auto found = index_.find(StructuralHash::Hash(value));
    DEUTERON_CHECK(found != index_.end()) << "a shape that was not collected";
    for (const size_t i : found->second) {
      if (ExprEqual(cells_[i].value, value)) return i;
    }
    DEUTERON_UNREACHABLE();
  }
  const Cell& at(size_t i) const { return cells_[i]; }

  /// Marks a symbol's cell as filled.
  void Fill(size_t i) {
    cells_[i].computed = true;
    filled_.push_back(i);
  }
  /// The cells that can be computed from what was filled since the last call; they count as computed.
  std::vector<size_t> TakeReady() {
    std::vector<size_t> ready;
    for (const size_t symbol : filled_) {
      for (const size_t user : cells_[symbol].users) {
        if (--cells_[user].missing == 0) ready.push_back(user);
      }
    }
    filled_.clear();
    for (const size_t i : ready) cells_[i].computed = true;
    return ready;
  }

 private:
  void Mention(const SeqExpr& seq) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        const Expr& value = BoundValue(binding);
        if (const auto* branch = value.as<IfNode>()) {
          Mention(branch->true_branch);
          Mention(branch->false_branch);
        } else if (value->kind != RelaxKind::kFunction) {
          if (const auto* call = value.as<CallNode>()) {
            for (const Type& type : call->ty_args) Mention(type);
          }
          MentionLeaves(value);
          Mention(value.ty());
        }
        if (const auto* cast = binding.as<MatchCastNode>()) Mention(cast->ty);
        Mention(binding->var.ty());
      }
    }
    MentionLeaves(seq->body);
  }
  void MentionLeaves(const Expr& expr) {
    VisitLeaves(expr, [this](const Expr& leaf) {
      if (const auto* shape = leaf.as<ShapeExprNode>()) MentionAll(shape->values);
      if (const auto* scalar = leaf.as<PrimValueNode>()) Add(scalar->value);
    });
  }
  void Mention(const Type& type) {
    if (!type.defined()) return;
    if (const auto* tensor = type.as<TensorTypeNode>()) {
      if (tensor->shape.has_value()) MentionAll(*tensor->shape);
    } else if (const auto* shape = type.as<ShapeTypeNode>()) {
      if (shape->values.has_value()) MentionAll(*shape->values);
    } else if (const auto* tuple = type.as<TupleTypeNode>()) {
      for (const Type& field : tuple->fields) Mention(field);
    }
  }
  void MentionAll(const Array<PrimExpr>& values) {
    for (const PrimExpr& value : values) Add(value);
  }
  void Add(const PrimExpr& value) {
    if (value->kind == ExprKind::kIntImm || value->kind == ExprKind::kFloatImm) return;
    std::vector<size_t>& same = index_[StructuralHash::Hash(value)];
    for (const size_t i : same) {
      if (ExprEqual(cells_[i].value, value)) return;
    }
    same.push_back(cells_.size());
    cells_.push_back({value, false, 0, {}});
  }
  void LinkUsers(size_t i) {
    if (cells_[i].value->kind == ExprKind::kVar) return;
    std::vector<const Object*> seen;
    for (const tir::Var& symbol : FreeVars(cells_[i].value)) {
      if (std::find(seen.begin(), seen.end(), symbol.get()) != seen.end()) continue;
      seen.push_back(symbol.get());
      cells_[IndexOf(symbol)].users.push_back(i);
    }
    cells_[i].missing = seen.size();
  }

  std::vector<Cell> cells_;
  std::unordered_map<uint64_t, std::vector<size_t>> index_;
  std::vector<size_t> filled_;
};

/// Lowers one function.
class ShapeLowerer : public TypedRewriter {
 public:
  ShapeLowerer(BlockBuilder* functions, std::string name, const Function& function, const TypePrinter& print)
      : TypedRewriter(IRModule::Empty()),
        functions_(functions),
        name_(std::move(name)),
        function_(function),
        print_(print),
        cells_(function) {
    infers_branches_anew_ = true;
  }

  Function Lower() {
    Bindings entry;
    heap_ = Bind("shape_heap", AllocateHeap(), &entry);
    const auto num_input = function_->GetAttr<int64_t>("num_input");
    for (size_t i = 0; i < function_->params.size(); ++i) {
      const Var& param = function_->params[static_cast<int64_t>(i)];
      const bool is_weight = num_input.has_value() && static_cast<int64_t>(i) >= *num_input;
      if (is_weight && IsStaticTensor(param.ty())) continue;
      const Expr context = StringImm("ErrorContext(fn=" + name_ + ", loc=param[" + std::to_string(i) + "], param=" +
                                     std::string(param->name_hint) + ", annotation=" + print_(param.ty()) + ") ");
      Check(param, param.ty(), context, is_weight ? Checked::kButStaticTensors : Checked::kAll, &entry);
    }
    MatchAll(&entry);
    const Function lowered = RewriteFunction(function_, function_->params);
    std::vector<BindingBlock> blocks = {BindingBlock(Array<Binding>(entry.begin(), entry.end()))};
    blocks.insert(blocks.end(), lowered->body->blocks.begin(), lowered->body->blocks.end());
    Bindings exit;
    Check(lowered->body->body, function_->ret_ty,
          StringImm("ErrorContext(fn=" + name_ + ", loc=return, annotation=" + print_(function_->ret_ty) + ") "),
          Checked::kUnknown, &exit);
    MatchAll(&exit);
    blocks.push_back(BindingBlock(Array<Binding>(exit.begin(), exit.end())));
    SeqExpr body(JoinBlocks(blocks), lowered->body->body, function_->body->span);
    body->ty = lowered->body->ty;
    return WithBody(function_, body);
  }

 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    const BindingBlock outer = std::exchange(block_, block);
    BindingBlock rewritten = TypedRewriter::RewriteBlock(block);
    block_ = outer;
    return rewritten;
  }

  void RewriteBinding(const Binding& binding, Bindings* out) override {
    if (const auto* cast = binding.as<MatchCastNode>()) {
      Check(cast->value, cast->ty, StringImm("ErrorContext(match_cast, ty=" + print_(cast->ty) + ") "),
            Checked::kUnknown, out);
      MatchAll(out);
      return TypedRewriter::RewriteBinding(binding, out);
    }
    const Expr& value = BoundValue(binding);
    if (value->kind == RelaxKind::kIf || value->kind == RelaxKind::kFunction) {
      return TypedRewriter::RewriteBinding(binding, out);
    }
    const Expr lowered = LowerValue(value, out);
    // What a shape is read to is less than it was: to be inferred.
    if (value->kind == RelaxKind::kShapeExpr && !lowered.same_as(value)) lowered->ty = Type();
    TypedRewriter::RewriteBinding(WithValue(binding, lowered), out);
  }

 private:
  /// Something whose extents are to be compared or stored.
  struct Match {
    Expr value;
    Array<PrimExpr> extents;
    Expr context;
  };

  Call AllocateHeap() const {
    if (cells_.size() == 0) return NullValue();
    WillAct();
    static const Op op = Op::Get("relax.call_builtin_with_ctx");
    const Type heap = TensorType::WithNDim(1, DataType::Int(64));
    return Call(op, {ExternFunc("vm.builtin.alloc_shape_heap"), Tuple({Number(cells_.size())})}, Attrs(), {heap});
  }

  static Expr Number(size_t value) { return PrimValue::Int64(static_cast<int64_t>(value)); }

  /// Before a call with a side effect is written.
  void WillAct() const {
    RequireImpure(kName, name_, function_);
    if (block_.defined()) RequirePlain(kName, name_, block_);
  }

  static Var Bind(const std::string& name, const Call& call, Bindings* out) {
    call->ty = call->ty_args.empty() ? Type(AnyType::Get()) : call->ty_args[0];
    const Var var(name, call->ty);
    out->push_back(VarBinding(var, call));
    return var;
  }
  void Effect(const char* name, Array<Expr> args, Bindings* out) const {
    WillAct();
    Bind("_", CallPacked(ExternFunc(std::string("vm.builtin.") + name), std::move(args), {TupleType(Array<Type>())}),
         out);
  }

  // ----- Checks and matches.

  /// What of a value is checked: what its own type does not say, or all. Tensors of static or no shape among weights
  /// are what the caller has prepared for this function.
  enum class Checked : uint8_t { kUnknown, kAll, kButStaticTensors };
  static bool IsStaticTensor(const Type& type) {
    const auto* tensor = type.as<TensorTypeNode>();
    return tensor != nullptr && (!tensor->shape.has_value() || AsConstInts(*tensor->shape).has_value());
  }

  /// Checks that `value` is of `type`; notes the shapes to match.
  void Check(const Expr& value, const Type& type, const Expr& context, Checked checked, Bindings* out) {
    const bool always = checked != Checked::kUnknown;
    if (!always && IsBaseOf(type, value.ty(), &analyzer_)) return;
    switch (type->kind) {
      case TypeKind::kTensor: {
        const auto* tensor = type.as<TensorTypeNode>();
        const auto without_shape = TensorType::WithNDim(tensor->ndim, tensor->dtype);
        if (always || !IsBaseOf(without_shape, value.ty(), &analyzer_)) {
          Expr dtype = DataTypeImm(tensor->dtype);
          if (tensor->dtype.is_void()) dtype = Bind("gv", NullValue(), out);
          Effect("check_tensor_info", {value, PrimValue::Int64(tensor->ndim), dtype, context}, out);
        }
        if (tensor->shape.has_value()) matches_.push_back({value, *tensor->shape, context});
        return;
      }
      case TypeKind::kShape: {
        const auto* shape = type.as<ShapeTypeNode>();
        if (always || !IsBaseOf(ShapeType::WithNDim(shape->ndim), value.ty(), &analyzer_)) {
          Effect("check_shape_info", {value, PrimValue::Int64(shape->ndim), context}, out);
        }
        if (shape->values.has_value()) matches_.push_back({value, *shape->values, context});
        return;
      }
      case TypeKind::kPrim:
        return Effect("check_prim_value_info", {value, DataTypeImm(type.as<PrimTypeNode>()->dtype), context}, out);
      case TypeKind::kTuple: {
        const auto& fields = type.as<TupleTypeNode>()->fields;
        const auto* known = value.ty().as<TupleTypeNode>();
        if (always || known == nullptr || known->fields.size() != fields.size()) {
          Effect("check_tuple_info", {value, Number(fields.size()), context}, out);
        }
        for (size_t i = 0; i < fields.size(); ++i) {
          if (checked == Checked::kButStaticTensors && IsStaticTensor(fields[i])) continue;
          Check(FieldOf(value, i, fields[i], out), fields[i], context, checked, out);
        }
        return;
      }
      case TypeKind::kFunc:
        return Effect("check_func_info", {value, context}, out);
      case TypeKind::kAny:
        return;
    }
    DEUTERON_UNREACHABLE();
  }

  /// Field `i` of `tuple`, as a leaf; `type` where it is not known.
  static Expr FieldOf(const Expr& tuple, size_t i, const Type& type, Bindings* out) {
    const auto index = static_cast<int64_t>(i);
    if (const auto* known = tuple.as<TupleNode>()) return known->fields[index];
    const auto* tuple_type = tuple.ty().as<TupleTypeNode>();
    const TupleGetItem item(tuple, index);
    item->ty = tuple_type != nullptr ? tuple_type->fields[index] : type;
    const Var field("gv", item->ty);
    out->push_back(VarBinding(field, item));
    return field;
  }

  /// Matches the shapes noted so far, and computes what follows from them.
  void MatchAll(Bindings* out) {
    while (!matches_.empty()) {
      std::vector<Match> later;
      for (const Match& match : matches_) {
        if (!RunMatch(match, out)) later.push_back(match);
      }
      const bool any = Compute(out) || later.size() < matches_.size();
      matches_ = std::move(later);
      if (any) continue;
      DEUTERON_THROW(ModelError) << "VMShapeLower: the symbols of " << Describe(matches_[0].extents)
                                 << " are not all defined by the shapes of parameters and of match_casts before it";
    }
  }

  /// False if an extent could not be compared yet.
  bool RunMatch(const Match& match, Bindings* out) {
    Array<Expr> args = {match.value, heap_, Number(match.extents.size())};
    bool complete = true;
    bool does_something = false;
    const auto add = [&](MatchCode code, int64_t operand) {
      args.push_back(PrimValue::Int64(code));
      args.push_back(PrimValue::Int64(operand));
      does_something |= code != kNothing;
    };
    for (const PrimExpr& extent : match.extents) {
      if (const auto number = AsConstInt(extent)) {
        add(kEqualsNumber, *number);
        continue;
      }
      const size_t cell = cells_.IndexOf(extent);
      if (cells_.at(cell).computed) {
        add(kEqualsCell, static_cast<int64_t>(cell));
      } else if (extent->kind == ExprKind::kVar) {
        cells_.Fill(cell);
        add(kStores, static_cast<int64_t>(cell));
      } else {
        add(kNothing, 0);
        complete = false;
      }
    }
    args.push_back(match.context);
    if (does_something) Effect("match_shape", args, out);
    return complete;
  }

  /// Calls a function that computes the cells that can be; false if there are none.
  bool Compute(Bindings* out) {
    const std::vector<size_t> ready = cells_.TakeReady();
    if (ready.empty()) return false;
    WillAct();
    const tir::Buffer heap("H", DataType::Int(64), {I64(static_cast<int64_t>(cells_.size()))});
    const auto cell = [&](size_t i) { return Array<PrimExpr>{I64(static_cast<int64_t>(i))}; };
    Array<tir::Stmt> stores;
    for (const size_t i : ready) {
      ExprVarMap loads;
      for (const tir::Var& symbol : FreeVars(cells_.at(i).value)) {
        loads[symbol] = tir::BufferLoad(heap, cell(cells_.IndexOf(symbol)));
      }
      stores.push_back(tir::BufferStore(heap, Substitute(cells_.at(i).value, loads), cell(i)));
    }
    const tir::SBlock root(kEmpty, kEmpty, kEmpty, "root", tir::SeqStmt::Flatten(stores));
    const auto func = tir::PrimFunc::FromBuffers({heap}, {}, tir::SBlockRealize(kEmpty, True(), root),
                                                 DictAttrs::With(DictAttrs(), "tirx.is_host_func", true));
    const Call call(functions_->AddFunction(func, "shape_func"), {heap_});
    call->ty = TupleType(Array<Type>());
    out->push_back(VarBinding(Var("_", call->ty), call));
    return true;
  }

  // ----- Uses.

  /// `value` with its shapes and scalars read from the heap.
  Expr LowerValue(const Expr& value, Bindings* out) {
    if (const auto* shape = value.as<ShapeExprNode>()) return MakeShape(shape);
    if (const auto* scalar = value.as<PrimValueNode>()) return MakeScalar(scalar);
    if (const auto* call = value.as<CallNode>()) {
      auto args = call->args.Map([&](const Expr& arg) { return LowerLeaf(arg, out); });
      if (args.same_as(call->args)) return value;
      Call lowered(call->op, std::move(args), call->attrs, call->ty_args, call->span);
      // A kernel still returns nothing, though its scalars are variables now.
      const auto* result = call->ty.defined() ? call->ty.as<TupleTypeNode>() : nullptr;
      if (result != nullptr && result->fields.empty()) lowered->ty = call->ty;
      return lowered;
    }
    return LowerLeaf(value, out);
  }
  Expr LowerLeaf(const Expr& leaf, Bindings* out) {
    if (const auto* tuple = leaf.as<TupleNode>()) {
      auto fields = tuple->fields.Map([&](const Expr& field) { return LowerLeaf(field, out); });
      return fields.same_as(tuple->fields) ? leaf : Expr(Tuple(std::move(fields)));
    }
    Expr made = leaf;
    if (const auto* shape = leaf.as<ShapeExprNode>()) made = MakeShape(shape);
    if (const auto* scalar = leaf.as<PrimValueNode>()) made = MakeScalar(scalar);
    return made.same_as(leaf) ? leaf : Expr(Bind("gv", Downcast<Call>(made), out));
  }

  Expr MakeShape(const ShapeExprNode* shape) {
    if (AsConstInts(shape->values).has_value()) return GetRef<Expr>(shape);
    Array<Expr> args = {heap_, Number(shape->values.size())};
    for (const PrimExpr& value : shape->values) AddOperand(value, &args);
    return Read("make_shape", std::move(args), ShapeType::WithNDim(static_cast<int64_t>(shape->values.size())));
  }
  Expr MakeScalar(const PrimValueNode* scalar) {
    if (scalar->value->kind == ExprKind::kIntImm || scalar->value->kind == ExprKind::kFloatImm)
      return GetRef<Expr>(scalar);
    Array<Expr> args = {heap_};
    AddOperand(scalar->value, &args);
    return Read("make_prim_value", std::move(args), PrimType(scalar->value.dtype()));
  }
  void AddOperand(const PrimExpr& value, Array<Expr>* args) const {
    const auto number = AsConstInt(value);
    if (!number) {
      const size_t cell = cells_.IndexOf(value);
      DEUTERON_CHECK(cells_.at(cell).computed) << "a shape is used before its symbols are known";
      args->push_back(PrimValue::Int64(kLoads));
      args->push_back(Number(cell));
      return;
    }
    args->push_back(PrimValue::Int64(kNumber));
    args->push_back(PrimValue::Int64(*number));
  }
  Expr Read(const char* name, Array<Expr> args, const Type& type) const {
    WillAct();
    const Call call = CallPacked(ExternFunc(std::string("vm.builtin.") + name), std::move(args), {type});
    call->ty = type;
    return call;
  }

  BlockBuilder* functions_;
  const std::string name_;
  const Function function_;
  const TypePrinter& print_;
  /// The block that is being rewritten.
  BindingBlock block_;
  ShapeCells cells_;
  std::vector<Match> matches_;
  Var heap_;
  arith::Analyzer analyzer_;
};

}  // namespace

Pass VMShapeLower(TypePrinter print) {
  return transform::ModulePass(
      {.name = kName}, [print = std::move(print)](IRModule module, const transform::PassContext&) {
        std::vector<std::pair<GlobalVar, Function>> functions;
        for (const auto& [var, func] : module->functions) {
          if (const auto function = As<Function>(func); function.defined()) functions.emplace_back(var, function);
        }
        BlockBuilder builder(std::move(module));
        for (const auto& [var, function] : functions) {
          builder.UpdateFunction(var, ShapeLowerer(&builder, std::string(var->name_hint), function, print).Lower());
        }
        return builder.Finalize();
      });
}

}  // namespace deuteron::relax
