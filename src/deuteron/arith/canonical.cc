/// \file
/// Expression → polynomial, and the tables of atoms and monomials.
#include <algorithm>
#include <utility>

#include "deuteron/arith/analyzer_impl.h"

namespace deuteron::arith {

using tir::BinaryNode;

namespace {

/// A product of sums is expanded up to this many terms; larger ones stay products.
constexpr size_t kMaxExpandedTerms = 24;

size_t HashCombine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

size_t HashPoly(const Poly& poly) {
  size_t seed = static_cast<size_t>(poly.constant);
  for (const Term& term : poly.terms) {
    seed = HashCombine(HashCombine(seed, static_cast<size_t>(term.mono)), static_cast<size_t>(term.coeff));
  }
  return seed;
}

bool IsIfThenElse(const tir::CallNode* call) {
  static const Op op = Op::Get("tir.if_then_else");
  return call->op.same_as(op);
}

}  // namespace

bool MayFault(const PrimExpr& expr) {
  bool may_fault = false;
  PostOrderVisit(expr, [&](const PrimExpr& node) {
    const auto* call = node.as<tir::CallNode>();
    may_fault |= node->kind == ExprKind::kBufferLoad || node->kind == ExprKind::kProducerLoad ||
                 (call != nullptr && IsIfThenElse(call));
  });
  return may_fault;
}

Poly Analyzer::Impl::ToPoly(const PrimExpr& expr) {
  switch (expr->kind) {
    case ExprKind::kIntImm:
      return ConstPoly(static_cast<const tir::IntImmNode*>(expr.get())->value);
    case ExprKind::kVar:
      return AtomValue(VarAtom(GetRef<tir::Var>(static_cast<const tir::VarNode*>(expr.get()))));
    default:
      break;
  }
  if (expr.unique()) return ComputePoly(expr);
  if (auto it = poly_memo.find(expr.get()); it != poly_memo.end() && it->second.epoch == epoch) {
    return it->second.poly;
  }
  Poly poly = ComputePoly(expr);
  poly_memo[expr.get()] = MemoEntry{expr, epoch, poly, PrimExpr()};
  return poly;
}

Poly Analyzer::Impl::ComputePoly(const PrimExpr& expr) {
  try {
    switch (expr->kind) {
      case ExprKind::kAdd:
      case ExprKind::kSub:
        return SumToPoly(expr);
      case ExprKind::kMul:
      case ExprKind::kFloorDiv:
      case ExprKind::kFloorMod:
      case ExprKind::kDiv:
      case ExprKind::kMod:
      case ExprKind::kMin:
      case ExprKind::kMax:
        return BinaryToPoly(static_cast<const BinaryNode*>(expr.get()));
      case ExprKind::kSelect: {
        const auto* op = static_cast<const tir::SelectNode*>(expr.get());
        return ConditionalToPoly(expr, op->condition, op->true_value, op->false_value, true);
      }
      case ExprKind::kCall: {
        const auto* op = static_cast<const tir::CallNode*>(expr.get());
        if (IsIfThenElse(op)) return ConditionalToPoly(expr, op->args[0], op->args[1], op->args[2], false);
        return OpaqueToPoly(expr);
      }
      default:
        return OpaqueToPoly(expr);
    }
  } catch (const PolyOverflow&) {
    const auto* op = static_cast<const BinaryNode*>(expr.get());
    if (!IsBinary(expr->kind)) return AtomPoly(OpaqueAtom(expr, true));
    PrimExpr a = Rewrite(op->a);
    PrimExpr b = Rewrite(op->b);
    PrimExpr folded = FoldBinary(op->kind, a, b);
    if (!folded.defined()) folded = MakeBinary(op->kind, a, b);
    if (const auto value = AsConstInt(folded)) return ConstPoly(*value);
    return AtomPoly(OpaqueAtom(folded, true));
  }
}

Poly Analyzer::Impl::SumToPoly(const PrimExpr& expr) {
  const auto* op = static_cast<const BinaryNode*>(expr.get());
  PolyBuilder builder;
  Accumulate(op->a, 1, &builder);
  Accumulate(op->b, expr->kind == ExprKind::kSub ? -1 : 1, &builder);
  return Recombine(builder.Finish(), expr.dtype());
}

/// Adds `scale * expr` to the builder, walking nested sums without building the inner ones. A shared sum is
/// computed once and remembered: a DAG of sums must not be walked as a tree.
void Analyzer::Impl::Accumulate(const PrimExpr& expr, int64_t scale, PolyBuilder* builder) {
  if ((expr->kind != ExprKind::kAdd && expr->kind != ExprKind::kSub) || !expr.unique()) {
    builder->Add(ToPoly(expr), scale);
    return;
  }
  const auto* op = static_cast<const BinaryNode*>(expr.get());
  Accumulate(op->a, scale, builder);
  Accumulate(op->b, expr->kind == ExprKind::kSub ? -scale : scale, builder);
}

Poly Analyzer::Impl::BinaryToPoly(const BinaryNode* op) {
  const DataType dtype = op->dtype;
  const Poly a = ToPoly(op->a);
  const Poly b = ToPoly(op->b);
  const auto opaque = [&](bool is_data) {
    PrimExpr x = Emit(a, dtype);
    PrimExpr y = Emit(b, dtype);
    PrimExpr folded = FoldBinary(op->kind, x, y);
    if (!folded.defined()) folded = MakeBinary(op->kind, x, y);
    if (const auto value = AsConstInt(folded)) return ConstPoly(*value);
    return AtomPoly(OpaqueAtom(folded, is_data));
  };
  if (op->kind == ExprKind::kMul) {
    if (!a.is_const() && !b.is_const() && a.terms.size() * b.terms.size() > kMaxExpandedTerms) {
      return opaque(IsData(a) || IsData(b));
    }
    return Recombine(MulPoly(a, b), dtype);
  }
  const bool is_data = IsData(a) || IsData(b);
  switch (op->kind) {
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod: {
      const bool is_div = op->kind == ExprKind::kFloorDiv;
      if (b.is_zero()) return opaque(true);
      if (is_data && !a.is_const()) {
        const ConstIntBound bound = BoundOf(a);
        if (b.is_const() && b.constant > 0 && bound.min_value >= 0 && bound.max_value < b.constant) {
          return is_div ? ConstPoly(0) : a;
        }
        return AtomPoly(OpAtom(is_div ? AtomKind::kFloorDiv : AtomKind::kFloorMod, a, b, dtype));
      }
      return is_div ? FloorDivPoly(a, b, dtype) : FloorModPoly(a, b, dtype);
    }
    case ExprKind::kDiv:
    case ExprKind::kMod: {
      if (b.is_zero()) return opaque(true);
      const bool non_negative = BoundOf(a).min_value >= 0 && BoundOf(b).min_value >= 0;
      if (!non_negative || is_data) return opaque(is_data);
      return op->kind == ExprKind::kDiv ? FloorDivPoly(a, b, dtype) : FloorModPoly(a, b, dtype);
    }
    case ExprKind::kMin:
      return MinMax(true, a, b, dtype);
    case ExprKind::kMax:
      return MinMax(false, a, b, dtype);
    default:
      DEUTERON_UNREACHABLE();
  }
}

Poly Analyzer::Impl::MinMax(bool is_min, const Poly& a, const Poly& b, DataType dtype) {
  if (a == b) return a;
  const int less_equal = DecideCompare(ExprKind::kLE, a, b, 1);
  if (less_equal == 1) return is_min ? a : b;
  if (less_equal == 0 || DecideCompare(ExprKind::kLE, b, a, 1) == 1) return is_min ? b : a;
  // Operands in a fixed order, so that min(a, b) is min(b, a).
  const auto key = [](const Poly& poly) { return poly.terms.empty() ? -1 : poly.terms[0].mono; };
  const bool swap = key(b) < key(a) || (key(a) == key(b) && HashPoly(b) < HashPoly(a));
  const AtomKind kind = is_min ? AtomKind::kMin : AtomKind::kMax;
  // Constants come last, as they are usually written.
  if (a.is_const()) return AtomPoly(OpAtom(kind, b, a, dtype));
  if (b.is_const() || !swap) return AtomPoly(OpAtom(kind, a, b, dtype));
  return AtomPoly(OpAtom(kind, b, a, dtype));
}

Poly Analyzer::Impl::ConditionalToPoly(const PrimExpr& expr, const PrimExpr& condition, const PrimExpr& true_value,
                                       const PrimExpr& false_value, bool is_select) {
  PrimExpr simple = Rewrite(condition);
  if (const auto value = AsConstInt(simple)) return ToPoly(*value != 0 ? true_value : false_value);
  const auto branch = [&](const PrimExpr& assumed, const PrimExpr& value) {
    if (is_select && MayFault(value)) return ToPoly(value);
    Undo undo = BeginAssume();
    Assume(assumed, &undo);
    Poly poly = ToPoly(value);
    Revert(undo);
    return poly;
  };
  const Poly on_true = branch(simple, true_value);
  const Poly on_false = branch(!simple, false_value);
  if (on_true == on_false) return on_true;
  const DataType dtype = expr.dtype();
  PrimExpr x = Emit(on_true, dtype);
  PrimExpr y = Emit(on_false, dtype);
  PrimExpr result = is_select ? SelectExpr(simple, x, y) : IfThenElse(simple, x, y);
  return AtomPoly(SelectAtom(result, on_true, on_false));
}

Poly Analyzer::Impl::OpaqueToPoly(const PrimExpr& expr) {
  PrimExpr simple = Rewrite(expr);
  if (const auto value = AsConstInt(simple)) return ConstPoly(*value);
  if (simple->kind == ExprKind::kVar) return ToPoly(simple);
  bool is_data = false;
  PostOrderVisit(simple, [&](const PrimExpr& node) {
    switch (node->kind) {
      case ExprKind::kVar: {
        auto it = var_atoms.find(node.get());
        is_data = is_data || (it != var_atoms.end() && atoms[it->second].is_data);
        break;
      }
      case ExprKind::kCall:
      case ExprKind::kLet:
      case ExprKind::kReduce:
      case ExprKind::kBufferLoad:
      case ExprKind::kProducerLoad:
        is_data = true;
        break;
      default:
        break;
    }
  });
  return AtomPoly(OpaqueAtom(simple, is_data));
}

Poly Analyzer::Impl::MulPoly(const Poly& a, const Poly& b) {
  PolyBuilder builder;
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      int64_t coeff = 0;
      if (__builtin_mul_overflow(x.coeff, y.coeff, &coeff)) throw PolyOverflow();
      builder.Add(MulMono(x.mono, y.mono), coeff);
    }
  }
  Poly linear_a = a;
  linear_a.constant = 0;
  builder.Add(linear_a, b.constant);
  builder.Add(b, a.constant);
  return builder.Finish();
}

// --- Atoms ---------------------------------------------------------------------------------------------

int32_t Analyzer::Impl::NewAtom(Atom atom) {
  const auto id = static_cast<int32_t>(atoms.size());
  std::sort(atom.deps.begin(), atom.deps.end());
  atom.deps.erase(std::unique(atom.deps.begin(), atom.deps.end()), atom.deps.end());
  atoms.push_back(std::move(atom));
  atoms[id].mono = MonoOf({id});
  return id;
}

int32_t Analyzer::Impl::VarAtom(const tir::Var& var) {
  if (auto it = var_atoms.find(var.get()); it != var_atoms.end()) return it->second;
  Atom atom;
  atom.kind = AtomKind::kVar;
  atom.expr = var;
  const auto id = static_cast<int32_t>(atoms.size());
  atom.deps = {id};
  var_atoms.emplace(var.get(), id);
  return NewAtom(std::move(atom));
}

int32_t Analyzer::Impl::OpAtom(AtomKind kind, const Poly& a, const Poly& b, DataType dtype) {
  size_t hash = HashCombine(HashCombine(HashPoly(a), HashPoly(b)), static_cast<size_t>(kind));
  hash = HashCombine(hash, static_cast<size_t>(dtype.bits()));
  for (auto [it, end] = op_atoms.equal_range(hash); it != end; ++it) {
    const Atom& atom = atoms[it->second];
    if (atom.kind == kind && atom.expr.dtype() == dtype && atom.a == a && atom.b == b) return it->second;
  }
  PrimExpr x = Emit(a, dtype);
  PrimExpr y = Emit(b, dtype);
  Atom atom;
  atom.kind = kind;
  switch (kind) {
    case AtomKind::kFloorDiv:
      atom.expr = tir::FloorDiv(x, y);
      break;
    case AtomKind::kFloorMod:
      atom.expr = tir::FloorMod(x, y);
      break;
    case AtomKind::kMin:
      atom.expr = tir::Min(x, y);
      break;
    case AtomKind::kMax:
      atom.expr = tir::Max(x, y);
      break;
    case AtomKind::kVar:
    case AtomKind::kSelect:
    case AtomKind::kOpaque:
      DEUTERON_UNREACHABLE();
  }
  atom.is_data = IsData(a) || IsData(b);
  atom.cost = static_cast<int32_t>(std::min<int64_t>(Cost(a) + Cost(b) + 1, INT32_MAX / 2));
  CollectDeps(a, &atom.deps);
  CollectDeps(b, &atom.deps);
  atom.a = a;
  atom.b = b;
  const int32_t id = NewAtom(std::move(atom));
  op_atoms.emplace(hash, id);
  return id;
}

int32_t Analyzer::Impl::OpaqueAtom(const PrimExpr& expr, bool is_data) {
  const size_t hash = ExprHash(expr);
  for (auto [it, end] = opaque_atoms.equal_range(hash); it != end; ++it) {
    if (ExprEqual(atoms[it->second].expr, expr)) return it->second;
  }
  Atom atom;
  atom.expr = expr;
  atom.is_data = is_data;
  atom.cost = static_cast<int32_t>(std::min<int64_t>(CostOf(expr), INT32_MAX / 2));
  for (const tir::Var& var : FreeVars(expr)) atom.deps.push_back(VarAtom(var));
  const int32_t id = NewAtom(std::move(atom));
  opaque_atoms.emplace(hash, id);
  return id;
}

int32_t Analyzer::Impl::SelectAtom(const PrimExpr& expr, const Poly& a, const Poly& b) {
  bool is_data = IsData(a) || IsData(b);
  const size_t count = atoms.size();
  const int32_t id = OpaqueAtom(expr, is_data);
  if (atoms.size() > count && !is_data) {
    atoms[id].kind = AtomKind::kSelect;
    atoms[id].a = a;
    atoms[id].b = b;
  }
  return id;
}

Poly Analyzer::Impl::AtomPoly(int32_t atom) const { return Poly{{{atoms[atom].mono, 1}}, 0}; }
Poly Analyzer::Impl::AtomValue(int32_t atom) const {
  return atoms[atom].has_value ? atoms[atom].value : AtomPoly(atom);
}

int32_t Analyzer::Impl::MonoOf(std::vector<int32_t> factors) {
  std::sort(factors.begin(), factors.end());
  size_t hash = factors.size();
  for (const int32_t factor : factors) hash = HashCombine(hash, static_cast<size_t>(factor));
  for (auto [it, end] = mono_ids.equal_range(hash); it != end; ++it) {
    if (monos[it->second] == factors) return it->second;
  }
  const auto id = static_cast<int32_t>(monos.size());
  monos.push_back(std::move(factors));
  mono_ids.emplace(hash, id);
  return id;
}

int32_t Analyzer::Impl::MulMono(int32_t a, int32_t b) {
  std::vector<int32_t> factors = monos[a];
  factors.insert(factors.end(), monos[b].begin(), monos[b].end());
  return MonoOf(std::move(factors));
}

int32_t Analyzer::Impl::MonoWithout(int32_t mono, int32_t atom) {
  std::vector<int32_t> factors = monos[mono];
  factors.erase(std::find(factors.begin(), factors.end(), atom));
  return factors.empty() ? -1 : MonoOf(std::move(factors));
}

void Analyzer::Impl::AddProduct(int32_t mono, int64_t coeff, PolyBuilder* builder) const {
  if (mono < 0) {
    builder->AddConstant(coeff);
  } else {
    builder->Add(mono, coeff);
  }
}

bool Analyzer::Impl::DivideTerm(const Term& term, const Term& divisor, PolyBuilder* quotient) {
  if (term.coeff % divisor.coeff != 0) return false;
  const std::vector<int32_t>& have = monos[term.mono];
  const std::vector<int32_t>& need = monos[divisor.mono];
  if (!std::includes(have.begin(), have.end(), need.begin(), need.end())) return false;
  std::vector<int32_t> rest;
  std::set_difference(have.begin(), have.end(), need.begin(), need.end(), std::back_inserter(rest));
  AddProduct(rest.empty() ? -1 : MonoOf(std::move(rest)), term.coeff / divisor.coeff, quotient);
  return true;
}

bool Analyzer::Impl::IsData(const Poly& poly) const {
  return std::any_of(poly.terms.begin(), poly.terms.end(), [&](const Term& term) {
    const auto& factors = monos[term.mono];
    return std::any_of(factors.begin(), factors.end(), [&](int32_t atom) { return atoms[atom].is_data; });
  });
}

void Analyzer::Impl::CollectDeps(const Poly& poly, std::vector<int32_t>* deps) const {
  for (const Term& term : poly.terms) {
    for (const int32_t atom : monos[term.mono]) {
      deps->insert(deps->end(), atoms[atom].deps.begin(), atoms[atom].deps.end());
    }
  }
}

bool Analyzer::Impl::DependsOn(const Poly& poly, int32_t var_atom) const {
  for (const Term& term : poly.terms) {
    for (const int32_t atom : monos[term.mono]) {
      const auto& deps = atoms[atom].deps;
      if (std::binary_search(deps.begin(), deps.end(), var_atom)) return true;
    }
  }
  return false;
}

int32_t Analyzer::Impl::SingleAtom(const Poly& poly) const {
  if (poly.constant != 0 || poly.terms.size() != 1 || poly.terms[0].coeff != 1) return -1;
  const auto& factors = monos[poly.terms[0].mono];
  return factors.size() == 1 ? factors[0] : -1;
}

}  // namespace deuteron::arith
