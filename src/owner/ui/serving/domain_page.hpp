// The page of a domain.
#pragma once

#include "ui/live.hpp"
#include "ui/serving/page_loop.hpp"

namespace landtrace::ui {

// Returns the exit status.
int serve_domain(Live::Options options, const std::string& listen, const Fd& stop);

}  // namespace landtrace::ui
