// The files that every instance has, the top one included.
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/list_folder.hpp"

namespace landtrace::tracefs {

void add_instance_files(ListFolder& folder, const InstancePtr& instance);

}  // namespace landtrace::tracefs
