/// \file
/// A library's operators in their place in the graph, instead of the call of the function that holds them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deuteron/driver/report/fusion_report.h"

namespace deuteron::report {

/// Of a function that a library computes: the nodes that read each of its parameters.
using LibraryInputs = std::map<std::string, std::map<std::string, std::vector<size_t>>>;

/// Makes edges to and from the call of such a function lead to and from the operators in it. A call whose edges are all
/// replaced is no node any more. What the two sides name alike is taken as the same: a parameter and the argument, the
/// call's result and the function's; where that fails the call stays.
void SpliceLibraries(const LibraryInputs& inputs, FusionReport* report);

}  // namespace deuteron::report
