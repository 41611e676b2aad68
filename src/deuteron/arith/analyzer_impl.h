/// \file
/// The state of an Analyzer and the steps of its work. Internal to arith/.
///
/// canonical.cc  expression → polynomial: the rules of floor division, modulo, minimum, maximum
/// division.cc   division and modulo of polynomials, recombination of quotient and remainder
/// bound.cc      constant bounds of polynomials and atoms, modular sets
/// prove.cc      proofs of `polynomial >= 0` and comparisons
/// rewrite.cc    everything that is not index arithmetic: booleans, floats, vectors, lets
/// emit.cc       polynomial → expression
/// analyzer.cc   the public interface, bindings and constraints
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/arith/poly.h"

namespace deuteron::arith {

enum class AtomKind : uint8_t { kVar, kFloorDiv, kFloorMod, kMin, kMax, kSelect, kOpaque };

struct Atom {
  AtomKind kind = AtomKind::kOpaque;
  /// How it is written.
  PrimExpr expr;
  /// Operands: numerator and divisor; both sides of min and max; both values of a select.
  Poly a;
  Poly b;
  /// The monomial of this atom alone.
  int32_t mono = 0;
  /// Operations in `expr`.
  int32_t cost = 0;
  /// Depends on the contents of memory: arithmetic on it may wrap around, so that only ring identities and
  /// the bounds of its type hold.
  bool is_data = false;
  /// Replaced by this polynomial (a variable bound to a value, an equality assumed).
  bool has_value = false;
  Poly value;
  /// Bounds bound or assumed.
  ConstIntBound fact;
  /// Symbolic bounds of a variable bound to a range, inclusive.
  bool has_lower = false;
  bool has_upper = false;
  Poly lower;
  Poly upper;
  /// Variables are eliminated in descending order: ranges refer to variables bound before.
  int32_t order = 0;
  /// The bound computed last, valid while `bound_epoch` is the analyzer's.
  ConstIntBound bound;
  int64_t bound_epoch = -1;
  bool in_progress = false;
  /// Atoms of variables it depends on, sorted.
  std::vector<int32_t> deps;
};

struct Analyzer::Impl {
  Impl();

  // --- canonical.cc
  /// Index arithmetic: scalars of int32 and int64.
  static bool IsIndexType(DataType dtype) { return dtype.is_int() && dtype.bits() >= 32 && dtype.is_scalar(); }
  Poly ToPoly(const PrimExpr& expr);
  Poly ComputePoly(const PrimExpr& expr);
  Poly SumToPoly(const PrimExpr& expr);
  void Accumulate(const PrimExpr& expr, int64_t scale, PolyBuilder* builder);
  Poly BinaryToPoly(const tir::BinaryNode* op);
  Poly OpaqueToPoly(const PrimExpr& expr);
  Poly ConditionalToPoly(const PrimExpr& expr, const PrimExpr& condition, const PrimExpr& true_value,
                         const PrimExpr& false_value, bool is_select);
  Poly MinMax(bool is_min, const Poly& a, const Poly& b, DataType dtype);
  Poly MulPoly(const Poly& a, const Poly& b);

  // --- atoms and monomials (canonical.cc)
  int32_t VarAtom(const tir::Var& var);
  /// The atom of an operation on two polynomials, made if new.
  int32_t OpAtom(AtomKind kind, const Poly& a, const Poly& b, DataType dtype);
  int32_t OpaqueAtom(const PrimExpr& expr, bool is_data);
  int32_t SelectAtom(const PrimExpr& expr, const Poly& a, const Poly& b);
  int32_t NewAtom(Atom atom);
  Poly AtomPoly(int32_t atom) const;
  /// The value of the atom if it has one, else the atom.
  Poly AtomValue(int32_t atom) const;
  int32_t MonoOf(std::vector<int32_t> atoms);
  int32_t MulMono(int32_t a, int32_t b);
  /// `mono` without one occurrence of `atom`; -1 for the empty product.
  int32_t MonoWithout(int32_t mono, int32_t atom);
  /// `term` / `divisor` where exact: coefficient and atoms.
  bool DivideTerm(const Term& term, const Term& divisor, PolyBuilder* quotient);
  void AddProduct(int32_t mono, int64_t coeff, PolyBuilder* builder) const;
  bool IsData(const Poly& poly) const;
  void CollectDeps(const Poly& poly, std::vector<int32_t>* deps) const;
  bool DependsOn(const Poly& poly, int32_t var_atom) const;
  /// The atom if the polynomial is exactly that atom, else -1.
  int32_t SingleAtom(const Poly& poly) const;

  // --- division.cc
  Poly FloorDivPoly(const Poly& a, const Poly& b, DataType dtype);
  Poly FloorModPoly(const Poly& a, const Poly& b, DataType dtype);
  Poly DivConst(const Poly& a, int64_t divisor, DataType dtype);
  Poly ModConst(Poly a, int64_t divisor, DataType dtype);
  struct SymbolicSplit {
    int64_t factor = 1;
    Poly high;
    Poly low;
    Poly divisor;
  };
  std::optional<SymbolicSplit> SplitBySymbolic(const Poly& a, const Poly& b);
  Poly DivSymbolic(const Poly& a, const Poly& b, DataType dtype);
  Poly ModSymbolic(const Poly& a, const Poly& b, DataType dtype);
  /// a = quotient * b + remainder by terms.
  void LongDivide(const Poly& a, const Poly& b, Poly* quotient, Poly* remainder);
  /// Splits a = g * high + low with 0 <= low < g, for the greatest g > 1 dividing `divisor` that allows it.
  bool SplitByFactor(const Poly& a, int64_t divisor, int64_t* factor, Poly* high, Poly* low);
  Poly Recombine(Poly poly, DataType dtype);
  bool RecombineOnce(Poly* poly, DataType dtype);
  std::optional<Poly> JoinDigits(const Poly& x, const Poly& d, const Poly& quotient, int32_t atom, DataType dtype);

  // --- bound.cc
  ConstIntBound BoundOf(const Poly& poly);
  ConstIntBound BoundOfAtom(int32_t atom);
  ConstIntBound ComputeAtomBound(int32_t atom);
  ConstIntBound BoundOfMono(int32_t mono);
  ConstIntBound BoundOfOpaque(const PrimExpr& expr);
  ModularSet ModularOf(const Poly& poly);

  // --- prove.cc
  /// `poly >= 0` for all values of its variables. `depth` bounds the search.
  bool ProveNonNegative(const Poly& poly, int depth);
  bool ProveByQuotients(const Poly& poly);
  bool ProveByFractions(const Poly& poly);
  bool ProveByElimination(Poly poly);
  bool ProveByFacts(const Poly& poly, int depth);
  bool ProveByCases(const Poly& poly, int depth);
  bool EliminateOne(Poly* poly);
  /// 1: holds always, 0: never, -1: not known.
  int DecideCompare(ExprKind kind, const Poly& a, const Poly& b, int depth);
  bool Prove(const PrimExpr& condition, int depth);
  /// `poly` with `atom` replaced, where it occurs outside of other atoms.
  Poly ReplaceAtom(const Poly& poly, int32_t atom, const Poly& value);

  // --- rewrite.cc
  PrimExpr Rewrite(const PrimExpr& expr);
  PrimExpr RewriteIndex(const PrimExpr& expr);
  PrimExpr RewriteCompare(const tir::BinaryNode* op);
  PrimExpr RewriteLogic(const PrimExpr& expr);

  // --- emit.cc
  PrimExpr Emit(const Poly& poly, DataType dtype);
  PrimExpr EmitTerm(const Term& term, DataType dtype);
  int64_t Cost(const Poly& poly) const;
  int64_t CostOf(const PrimExpr& expr) const;

  // --- analyzer.cc
  void BindRange(const tir::Var& var, const tir::Range& range);
  void Invalidate() { ++epoch; }
  /// What an assumption changed, to be undone.
  struct Undo {
    size_t num_facts = 0;
    std::vector<std::pair<int32_t, ConstIntBound>> bounds;
    std::vector<int32_t> values;
  };
  void Assume(const PrimExpr& condition, Undo* undo);
  void AssumeNonNegative(const Poly& poly, Undo* undo);
  void Revert(const Undo& undo);
  Undo BeginAssume() const { return Undo{facts.size(), {}, {}}; }

  std::vector<Atom> atoms;
  std::vector<std::vector<int32_t>> monos;
  std::unordered_map<const Object*, int32_t> var_atoms;
  std::unordered_multimap<size_t, int32_t> op_atoms;
  std::unordered_multimap<size_t, int32_t> opaque_atoms;
  std::unordered_multimap<size_t, int32_t> mono_ids;
  /// Polynomials assumed to be >= 0.
  std::vector<Poly> facts;
  int64_t epoch = 0;
  int32_t next_order = 1;
  /// Atoms whose value is assumed, not bound.
  int num_assumed_values = 0;
  /// Results for shared nodes of the expression being simplified, and what keeps them alive.
  struct MemoEntry {
    PrimExpr node;
    int64_t epoch;
    Poly poly;
    PrimExpr expr;
  };
  std::unordered_map<const Object*, MemoEntry> poly_memo;
  std::unordered_map<const Object*, MemoEntry> expr_memo;
  int nesting = 0;
  /// Frees the memos when the outermost call ends.
  struct Scope {
    explicit Scope(Impl* impl) : impl(impl) { ++impl->nesting; }
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Impl* impl;
  };
};

/// The comparison that holds where one of kind `kind` does not.
ExprKind NegatedCompare(ExprKind kind);

/// Whether an expression holds loads or guards of loads: the branch of a select that does is computed whatever the
/// select's condition, so that nothing may be concluded from it.
bool MayFault(const PrimExpr& expr);

}  // namespace deuteron::arith
