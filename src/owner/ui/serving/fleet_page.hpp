// The page of a fleet.
#pragma once

#include "ui/fleet_view.hpp"
#include "ui/serving/page_loop.hpp"

namespace landtrace::ui {

// Returns the exit status.
int serve_fleet(FleetView::Options options, const std::string& listen, const Fd& stop);

}  // namespace landtrace::ui
