/// \file
/// What RunCodegen writes into the decision log of the functions that it translates: their operators, edges and groups
/// as FuseOps records its own (fusion_record.h), and each kernel of the library.
///
/// | reason | subject → object | figures | message |
/// | --- | --- | --- | --- |
/// | `library` | variable → operator | node, group; read, written or symbolic | `read; written` if symbolic |
/// | `fused`, `library-kernels` | producer → consumer | from, to (nodes), group if fused | |
/// | `library-input` | parameter → consumer | to (node) | |
/// | `group` | variable → kernel | group | |
/// | `library-kernel` | variable → kernel | read, written, flops | `read; written; flops` if symbolic |
/// | `library-pattern` | kernel → pattern | | parameters and their types |
///
/// The decisions' function is the symbol that byte code calls.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "deuteron/ir/transform/decision_log.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax::fusion {

/// Records functions with the attribute Codegen, by their symbols, in order: each composite that one calls, each
/// operator besides, is a kernel of the library.
void RecordLibraryFunctions(const IRModule& module, const std::vector<std::pair<std::string, Function>>& functions,
                            transform::DecisionLog* log);

}  // namespace deuteron::relax::fusion
