/// \file
/// Errors in a text: where they are, how they are worded, and several of them from one run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/support/error.h"

namespace deuteron::script {

/// An error at a place of a text; its message is `file:line:column: error: …`, the line, and a caret.
class TextError : public tvm::ffi::Error {
 public:
  TextError(std::string kind, std::string message, size_t at)
      : tvm::ffi::Error(std::move(kind), std::move(message), std::string()), at_(at) {}
  size_t at() const { return at_; }

 private:
  size_t at_;
};

/// Thrown where what is read depends on something of which an error has been reported already.
struct AlreadyReported {};

/// Thrown when so many errors are known that nobody would read more.
struct TooManyErrors {};

/// A text with its name, for messages.
class SourceText {
 public:
  SourceText(std::string_view text, std::string filename) : text_(text), filename_(std::move(filename)) {}
  std::string_view text() const { return text_; }
  const std::string& filename() const { return filename_; }
  /// Throws a TextError, as a ModelError or an UnsupportedError. Columns count characters.
  [[noreturn]] void Fail(size_t offset, const std::string& message, bool unsupported = false) const;

 private:
  std::string_view text_;
  std::string filename_;
};

/// The errors of one text.
class Diagnostics {
 public:
  /// No more than these are reported.
  static constexpr size_t kLimit = 20;

  /// Keeps `error`; at the limit, throws TooManyErrors.
  void Add(const TextError& error);
  size_t size() const { return errors_.size(); }
  /// If there are errors, throws them as one, in the order of the text: an UnsupportedError if all of them are.
  void Raise();

 private:
  std::vector<TextError> errors_;
};

/// Where `text` stops being UTF-8; npos if nowhere.
size_t FindInvalidUtf8(std::string_view text);

}  // namespace deuteron::script
