#include "deuteron/python/register.h"

#include <mutex>

#include "deuteron/ir/object.h"

/// Registers the functions "deuteron.python.NAME", once a process.
extern "C" __attribute__((visibility("default"))) void DeuteronRegisterPython();

void DeuteronRegisterPython() {
  static std::once_flag once;
  std::call_once(once, [] {
    deuteron::NodeReflection::Complete();
    deuteron::python::RegisterBuilder();
    deuteron::python::RegisterExecutables();
    deuteron::python::RegisterModules();
    deuteron::python::RegisterNodes();
    deuteron::python::RegisterPasses();
    deuteron::python::RegisterPatterns();
    deuteron::python::RegisterReports();
    deuteron::python::RegisterTensorExpressions();
  });
}
