// All threads that wrote in the domain and whose names are still known.
#pragma once

#include <utility>
#include <vector>

#include "domain/domain.hpp"
#include "output/record.hpp"

namespace landtrace::buffer {

// By thread id, ascending.
std::vector<std::pair<std::uint32_t, output::Task>> saved_tasks(domain::Domain& domain);

}  // namespace landtrace::buffer
