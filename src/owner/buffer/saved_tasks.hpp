// All threads that wrote in the domain and whose names are still known.
#pragma once

#include <utility>
#include <vector>

#include "domain/segment_names.hpp"
#include "output/record.hpp"

namespace landtrace::buffer {

// By thread id, ascending.
std::vector<std::pair<std::uint32_t, output::Task>> saved_tasks(const domain::Users& users);

}  // namespace landtrace::buffer
