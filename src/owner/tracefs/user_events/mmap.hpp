// user_events_mmap of the 2021 proposal. Programs map it: each event has a byte that says whether somebody listens.
#pragma once

#include "tracefs/context.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

class UserEventsMmap : public File {
 public:
  explicit UserEventsMmap(Context& context) : context_(context) {}

  [[nodiscard]] unsigned mode() const override { return 0440; }
  [[nodiscard]] const std::byte* page() const override { return context_.domain.status_pages().bytes(); }
  // There is nothing to read or write.
  Result<std::unique_ptr<OpenFile>> open(const Caller&, int) override { return std::make_unique<OpenFile>(); }

 private:
  Context& context_;
};

}  // namespace landtrace::tracefs
