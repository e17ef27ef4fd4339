// The README of the tree.
#pragma once

namespace landtrace::tracefs {

extern const char* const kReadme;

}  // namespace landtrace::tracefs
