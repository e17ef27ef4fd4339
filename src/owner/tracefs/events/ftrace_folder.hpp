// events/ftrace: the formats of what is recorded without being registered, for programs that read formats.
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/list_folder.hpp"

namespace landtrace::tracefs {

std::shared_ptr<Folder> make_ftrace_folder(const InstancePtr& instance);

}  // namespace landtrace::tracefs
