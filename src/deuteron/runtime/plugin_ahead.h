/// \file
/// Opening plugins (plugin.h) before a model calls them.
#pragma once

#include <string>

namespace deuteron::runtime {

/// Begins to open the plugin `name` in a thread of its own, once a process: whoever needs it waits the less for it.
void OpenPluginAhead(const std::string& name);

/// Whether it can be used, as far as that is known without waiting.
bool IsPluginOpen(const std::string& name);

}  // namespace deuteron::runtime
