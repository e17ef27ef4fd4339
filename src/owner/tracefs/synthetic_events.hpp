// synthetic_events: the domain's synthetic events, as definitions (language/synthetic/command.hpp). Truncation removes
// all, as far as none is in use.
#pragma once

#include "language/synthetic/command.hpp"
#include "tracefs/context.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class SyntheticEvents : public TextFile {
 public:
  explicit SyntheticEvents(Context& context) : TextFile(0640), context_(context) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
  [[nodiscard]] bool takes_turns() const override { return true; }
  Result<void> truncate(const Caller& caller) override;

 private:
  Context& context_;
};

// The parts of a definition, or why it is invalid. `line` is what was written.
Result<void> define_synthetic(Context& context, const Caller& caller, std::string_view line,
                              const language::AcceptedSynthetic<language::SyntheticCommand>& definition);

}  // namespace landtrace::tracefs
