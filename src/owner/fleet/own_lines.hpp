// Of a message with events as lines those that its host may have sent.
//
//   10:31:07.123456 web-7 service-4711 request: id=8812
//   10:31:07.123460 web-7 service-4711 <user stack trace>
//    => handle+0x1f [/usr/bin/service]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace landtrace::fleet {

struct OwnLines {
  std::string text;           // newlines included
  std::uint64_t foreign = 0;  // lines of no host, or of another one, which are not there
};
// Who may send under a subject is all that the transport checks: a line that names another host than its subject does
// is foreign. What begins as a stack's frame belongs to the line before it.
OwnLines own_lines(std::string_view subject, std::string_view message);

}  // namespace landtrace::fleet
