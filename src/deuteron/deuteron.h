/// \file
/// The library in one header: load a network, compile it, run it.
///
///     deuteron::IRModule module = deuteron::onnx::Load("resnet50.onnx");
///     deuteron::Executable exe = deuteron::Compile(module, {.target = "native", .threads = 2});
///     std::vector<deuteron::Tensor> out = exe.Run({{"x", x}});
///
/// A process that only runs compiled models includes deuteron/runtime/executable.h instead and links
/// libdeuteron_runtime.
#pragma once

#include "deuteron/driver/compile.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/ir/module.h"
#include "deuteron/runtime/tensor.h"
