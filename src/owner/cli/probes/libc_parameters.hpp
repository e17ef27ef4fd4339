// What the C library's functions call their parameters in the manual pages. Its debugging information, where that is
// installed at all, has other names for many: malloc's is "bytes".
#pragma once

#include <string>
#include <string_view>

namespace landtrace::cli {

// How the parameter is fetched, "$arg1:u64". "": the object at `path` is not the C library, or nothing is known of it.
std::string libc_parameter(std::string_view path, std::string_view function, std::string_view parameter);

// `arguments` where those that are such names alone stand with what they fetch.
std::string with_libc_parameters(std::string_view path, std::string_view function, std::string_view arguments);

}  // namespace landtrace::cli
