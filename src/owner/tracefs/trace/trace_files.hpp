// All files of an instance that are about its buffer.
#pragma once

#include "tracefs/context.hpp"
#include "tracefs/list_folder.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

void add_trace_files(ListFolder& folder, Context& context, const std::shared_ptr<TraceInstance>& instance, bool top);

}  // namespace landtrace::tracefs
