/// \file
/// Bytes that many hold and that are there once.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace deuteron {

/// A string that does not change; copies of it are the same one.
class SharedBytes {
 public:
  // NOLINTBEGIN(google-explicit-constructor): it stands where a string does
  SharedBytes(std::string bytes = "") : bytes_(std::make_shared<const std::string>(std::move(bytes))) {}
  SharedBytes(const char* text) : SharedBytes(std::string(text)) {}

  operator const std::string&() const { return *bytes_; }
  // NOLINTEND(google-explicit-constructor)
  const std::string& operator*() const { return *bytes_; }
  const std::string* operator->() const { return bytes_.get(); }

 private:
  std::shared_ptr<const std::string> bytes_;
};

}  // namespace deuteron
