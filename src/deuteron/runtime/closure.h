/// \file
/// Functions as values of byte code. Internal.
#pragma once

#include <tvm/ffi/any.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/object.h>

#include <memory>
#include <utility>

namespace deuteron::runtime {

class Executable;

/// A function of an executable, and what is passed to it after the arguments of a call.
class ClosureObj : public tvm::ffi::Object {
 public:
  ClosureObj(std::shared_ptr<const Executable> executable, uint32_t function, tvm::ffi::Array<tvm::ffi::Any> captured)
      : executable(std::move(executable)), function(function), captured(std::move(captured)) {}

  std::shared_ptr<const Executable> executable;
  uint32_t function;
  tvm::ffi::Array<tvm::ffi::Any> captured;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deuteron.runtime.Closure", ClosureObj, tvm::ffi::Object);
};

class Closure : public tvm::ffi::ObjectRef {
 public:
  Closure(std::shared_ptr<const Executable> executable, uint32_t function, tvm::ffi::Array<tvm::ffi::Any> captured)
      : ObjectRef(tvm::ffi::make_object<ClosureObj>(std::move(executable), function, std::move(captured))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Closure, tvm::ffi::ObjectRef, ClosureObj);
};

}  // namespace deuteron::runtime
