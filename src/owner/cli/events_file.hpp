// landtraced --events-file: definitions of events that a domain has from its beginning, as dynamic_events takes them.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "ipc/tree_client.hpp"

namespace landtrace::cli {

struct EventsFile {
  struct Line {
    unsigned number;
    std::string text;  // one space between two words
  };
  std::string path;
  std::vector<Line> lines;  // that define something
};

// Each line is a definition, up to a '#'. EINVAL for a line that removes something.
Result<EventsFile> read_events_file(const std::string& path);

// Defines them in the domain, and goes on behind a line that is refused. What the domain has from
// an owner before this one is left as it is. A sentence for each refused line: "FILE:LINE: why", with the mistake's
// place below it where it is known.
Result<std::vector<std::string>> define_events(ipc::TreeClient domain, const std::vector<EventsFile>& files);

}  // namespace landtrace::cli
