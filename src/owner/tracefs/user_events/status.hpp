// user_events_status: the events, and whether somebody listens to them. Programs for 6.0 and 6.1 map it: each event
// has a bit.
#pragma once

#include "domain/status.hpp"
#include "tracefs/context.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class UserEventsStatus : public TextFile {
 public:
  explicit UserEventsStatus(Context& context) : TextFile(0440), context_(context) {}

  [[nodiscard]] const std::byte* page() const override { return context_.domain.status_pages().bits(); }

 protected:
  Result<std::string> text() override { return domain::status_text(context_.domain.events(), context_.domain.abi()); }

 private:
  Context& context_;
};

}  // namespace landtrace::tracefs
