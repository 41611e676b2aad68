/// \file
/// Questions about types: equality, subsumption, the least type above two, the variables in a type, and the
/// type of a call from that of its callee.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// For messages, in one line: `Tensor((1, n), "float32")`, `Tensor(ndim=2)`, `Tuple(…)`.
std::string Describe(const Type& type);
/// `(1, n, 2 * n)`
std::string Describe(const Array<PrimExpr>& shape);
std::string Describe(const PrimExpr& dim);
/// `match_cast of 'x'`, and in a model `node '/fc': input 'x'`: what a type that it has not is demanded of.
std::string DescribeMatched(const MatchCast& match);

/// Whether `derived` is `base` or below it: every value of type `derived` is one of type `base`. Shapes are
/// compared by the prover; what cannot be proved equal is not.
bool IsBaseOf(const Type& base, const Type& derived, arith::Analyzer* analyzer);
/// Whether two types are the same, shapes being provably equal.
bool TypesEqual(const Type& a, const Type& b, arith::Analyzer* analyzer);
/// Whether two types are the same as they stand: variables by identity, no proofs. Fast.
bool TypesIdentical(const Type& a, const Type& b);
/// A hash that agrees with TypesIdentical.
size_t TypeHash(const Type& type);
/// Whether a value of type `derived` may be passed where `base` is declared, its shape to be checked at run
/// time where it is not known: false only for what can never be.
bool MayBe(const Type& base, const Type& derived, arith::Analyzer* analyzer);

/// The least type above both: the type of an `if`.
Type UnifyTypes(const Type& a, const Type& b, arith::Analyzer* analyzer);

/// `type` without shapes that use a variable which is not `defined`: what remains of it outside of the scope
/// of the others.
Type EraseToWellDefined(const Type& type, const std::function<bool(const tir::Var&)>& defined);

/// `type` with variables replaced.
Type SubstituteType(const Type& type, const ExprVarMap& values);

/// The symbolic variables in a type, each once, in order of occurrence.
std::vector<tir::Var> SymbolicVars(const Type& type);
/// Those that the type defines: dimensions that are a variable and nothing else.
std::vector<tir::Var> DefinedSymbolicVars(const Type& type);
/// The symbolic variables that `func` uses and neither its parameters nor a match_cast define.
std::vector<tir::Var> FreeSymbolicVars(const Function& func);

/// The type of a call of a function of type `func`: its parameters are matched with the arguments, which
/// gives values to its symbolic variables. Throws a ModelError where the arguments cannot match.
Type DeriveCallReturnType(const FuncType& func, const Call& call, arith::Analyzer* analyzer);

}  // namespace deuteron::relax
