// The live page, put together from web/ when Landtrace is built.
#pragma once

#include <string>

namespace landtrace::ui {

std::string page();

}  // namespace landtrace::ui
