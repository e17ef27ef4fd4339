// current_tracer: always nop, which traces nothing but events.
#pragma once

#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class CurrentTracer : public TextFile {
 public:
  CurrentTracer() : TextFile(0640) {}

 protected:
  Result<std::string> text() override { return "nop\n"; }
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
};

}  // namespace landtrace::tracefs
