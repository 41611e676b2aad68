/// \file
/// Which sanitizers this is compiled with, in the words of either compiler.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define DEUTERON_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEUTERON_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef DEUTERON_ADDRESS_SANITIZER
#define DEUTERON_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
#define DEUTERON_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DEUTERON_THREAD_SANITIZER 1
#endif
#endif
#ifndef DEUTERON_THREAD_SANITIZER
#define DEUTERON_THREAD_SANITIZER 0
#endif
