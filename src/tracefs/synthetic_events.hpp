// synthetic_events: the domain has none.
#pragma once

#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class SyntheticEvents : public TextFile {
 public:
  SyntheticEvents() : TextFile(0640) {}

 protected:
  Result<std::string> text() override { return ""; }
  // Lines without a definition are fine.
  Result<std::size_t> store(const Caller&, std::string_view bytes) override {
    if (!trimmed(bytes).empty()) return fail(EINVAL, "this domain makes no synthetic events");
    return bytes.size();
  }
};

}  // namespace landtrace::tracefs
