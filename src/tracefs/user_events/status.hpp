// user_events_status: the events, and which of them somebody listens to.
#pragma once

#include "domain/status.hpp"
#include "tracefs/context.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class UserEventsStatus : public TextFile {
 public:
  explicit UserEventsStatus(Context& context) : TextFile(0440), context_(context) {}

 protected:
  Result<std::string> text() override { return domain::status_text(context_.domain.events()); }

 private:
  Context& context_;
};

}  // namespace landtrace::tracefs
