// The live pages, put together from web/ when Landtrace is built.
#pragma once

#include <string>

namespace landtrace::ui {

std::string page();
std::string fleet_page();

}  // namespace landtrace::ui
