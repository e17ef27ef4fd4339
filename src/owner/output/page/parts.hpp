// The page around its data: what web/ holds, put together when Landtrace is built (web/bundle.cmake).
#pragma once

#include <string_view>

namespace landtrace::output::page {

// All pages begin like this, so that one is known from any other file.
inline constexpr std::string_view kSignature = "<!DOCTYPE html>\n<!-- A page of landtrace view -->\n";

// Up to where data elements may follow, and what stands behind them.
std::string_view page_begin();
std::string_view page_end();

// The tags around a block of data. Their type makes them no script: a browser leaves them alone.
inline constexpr std::string_view kDataBegin = "<script type=\"application/x-landtrace\">";
inline constexpr std::string_view kDataEnd = "</script>\n";

}  // namespace landtrace::output::page
