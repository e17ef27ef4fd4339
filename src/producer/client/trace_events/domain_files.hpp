// The domain's files, for the calls of <landtrace/trace_events.h>, which share one connection of the process.
#pragma once

#include <string>

namespace landtrace::client {

// Appends `text` to the file in one write(). Looks for a new owner if the known one has ended. 0 or a negative errno.
int write_domain_file(const std::string& path, const char* text);
int make_instance(const char* name);
int remove_instance(const char* name);

}  // namespace landtrace::client
