#include "output/page/parts.hpp"

namespace landtrace::output::page {
namespace {

constexpr std::string_view kPage[] = {
#include "landtrace_page.inc"
};

}  // namespace

std::string_view page_begin() { return kPage[0]; }
std::string_view page_end() { return kPage[1]; }

}  // namespace landtrace::output::page
