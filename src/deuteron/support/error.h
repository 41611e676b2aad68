/// \file
/// Errors of the library. All are `tvm::ffi::Error`s; the kind says whose fault it is, and the command
/// maps it to an exit status (see `ExitStatus`).
///
/// Three channels, never mixed: user errors (the kinds below, thrown with DEUTERON_THROW and worded for
/// the user: place, operator, both shapes or types, the way out), calls that can fail (std::optional), and
/// broken invariants (DEUTERON_CHECK, kind "InternalError", worded for us).
#pragma once

#include <tvm/ffi/error.h>

#include <string>
#include <string_view>

namespace deuteron {

/// Kinds of user errors. Used as `DEUTERON_THROW(ModelError) << "...";`.
///  - UsageError:       wrong flags or values, inputs of wrong name, shape or dtype       (exit status 2)
///  - ModelError:       a model or text that is missing, malformed or inconsistent        (3)
///  - UnsupportedError: valid, but outside of what is implemented                         (4)
///  - MismatchError:    results differ                                                    (5)
///  - MemoryError:      the machine has no memory left, or no threads                     (1)
/// Everything else, InternalError included, is 1.
int ExitStatus(std::string_view error_kind);
/// Whether it is a MemoryError: of status 1, and yet nothing of ours.
bool IsForMemory(std::string_view error_kind);

}  // namespace deuteron

/// Without a backtrace, which says nothing to the user and takes longer to make than most calls.
#define DEUTERON_THROW(Kind) ::tvm::ffi::detail::ErrorBuilder(#Kind, std::string(), false).stream()
#define DEUTERON_CHECK(condition) TVM_FFI_CHECK(condition, InternalError)
#define DEUTERON_UNREACHABLE() TVM_FFI_THROW(InternalError) << "unreachable code reached"
