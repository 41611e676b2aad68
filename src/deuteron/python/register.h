/// \file
/// What this folder registers, a file each. All of it is called by DeuteronRegisterPython alone: to register functions
/// takes longer than to load a model, and no one but Python needs them.
#pragma once

namespace deuteron::python {

void RegisterBuilder();
void RegisterExecutables();
void RegisterModules();
void RegisterNodes();
void RegisterPasses();
void RegisterPatterns();
void RegisterReports();
void RegisterTensorExpressions();

}  // namespace deuteron::python
