#include "ui/page.hpp"

#include <string_view>

namespace landtrace::ui {
namespace {

constexpr std::string_view kLivePage[] = {
#include "landtrace_live_page.inc"
};
constexpr std::string_view kFleetPage[] = {
#include "landtrace_fleet_page.inc"
};

}  // namespace

std::string page() { return std::string(kLivePage[0]) + std::string(kLivePage[1]); }

std::string fleet_page() { return std::string(kFleetPage[0]) + std::string(kFleetPage[1]); }

}  // namespace landtrace::ui
