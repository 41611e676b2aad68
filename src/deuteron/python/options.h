/// \file
/// What the Python package hands over as dictionaries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/frontend/onnx/import.h"

namespace deuteron::python {

using Shapes = std::map<std::string, std::vector<int64_t>>;

/// Dimensions of inputs by name.
Shapes ToShapes(const Map<String, ffi::Shape>& shapes);

/// "float32" as a dtype.
DataType ToDataType(const String& text);

/// Dimensions that are numbers or scalar expressions. A UsageError for anything else.
Array<PrimExpr> ToDimensions(const Array<ffi::Any>& shape);

/// Limits by name; those that are not named are what they are unless given. A UsageError for another name.
Limits ToLimits(const Map<String, int64_t>& values);

/// How a model is read. `custom`: functions for operators of the user's own.
onnx::ImportOptions ToImportOptions(const Map<String, ffi::Shape>& shapes, const Map<String, int64_t>& limits,
                                    const Array<IRModule>& custom);

/// The fields of CompileOptions by their names ("disabled_passes": a list of names, "progress": a function of a stage
/// or none, "warn": of a message, "instruments": those of MakeInstrument, "cache": a folder, or true for the user's). A
/// UsageError for another name. A signal that waits for Python ends a compilation.
CompileOptions ToCompileOptions(const Map<String, ffi::Any>& options);

/// An instrument whose methods are Python's: those of `methods` that are there, by their names in transform.py.
std::shared_ptr<transform::PassInstrument> MakeInstrument(Map<String, ffi::Function> methods);

/// Ends what runs if the interpreter has a signal to handle (Ctrl-C).
void CheckSignals();

}  // namespace deuteron::python
