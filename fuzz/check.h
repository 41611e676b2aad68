/// \file
/// What every reader owes to whom it reads for.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "deuteron/support/error.h"

namespace deuteron {

/// Runs `read`. A user's error is an answer; an internal one, or another exception, is a finding.
template <typename F>
void AcceptsOrRefuses(const F& read) {
  try {
    read();
  } catch (const tvm::ffi::Error& error) {
    if (ExitStatus(error.kind()) != 1) return;
    std::fprintf(stderr, "%s: %s\n", std::string(error.kind()).c_str(), std::string(error.message()).c_str());
    std::abort();
  }
}

}  // namespace deuteron
