/// \file
/// A compiled model as an object of Python's.
#pragma once

#include "deuteron/driver/compile.h"
#include "deuteron/ir/object.h"

namespace deuteron::python {

class ExecutableNode : public Object {
 public:
  explicit ExecutableNode(deuteron::Executable executable) : value(std::move(executable)) {}
  deuteron::Executable value;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deuteron.Executable", ExecutableNode, Object);
};
class ExecutableRef : public ObjectRef {
 public:
  explicit ExecutableRef(deuteron::Executable executable)
      : ObjectRef(MakeNode<ExecutableNode>(std::move(executable))) {}
  DEUTERON_REF(ExecutableRef, ObjectRef, ExecutableNode);
};

}  // namespace deuteron::python
