// uprobe_events and kprobe_events: probes of places in programs' code, as definitions
// (language/probe/function_probe.hpp). Truncation removes all of the file's, if none is in use.
// uprobe_profile and kprobe_profile: how often each was hit.
#pragma once

#include "language/probe/function_probe.hpp"
#include "tracefs/context.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class ProbeEvents : public TextFile {
 public:
  ProbeEvents(Context& context, language::ProbeFamily family) : TextFile(0640), context_(context), family_(family) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store_in_turns(const Caller& caller, std::string_view bytes, Rest& rest) override;
  [[nodiscard]] bool takes_turns() const override { return true; }
  Result<void> truncate(const Caller& caller) override;

 private:
  Context& context_;
  language::ProbeFamily family_;
};

class ProbeProfile : public TextFile {
 public:
  ProbeProfile(Context& context, language::ProbeFamily family) : TextFile(0440), context_(context), family_(family) {}

 protected:
  Result<std::string> text() override;

 private:
  Context& context_;
  language::ProbeFamily family_;
};

// A line that is no definition by its looks, and one of a symbol that nobody has: the kernel takes them for the same.
inline constexpr const char* kNoProbe = "no definition of a probe, or of a function that is not there";

// Defines the probe, or says in the error log why not. FunctionProbeCommand::kOther: the line is none of that family's;
// kNotYet: it is to be called again for this line.
Result<void> define_probe(Context& context, const Caller& caller, language::ProbeFamily family, std::string_view line,
                          Rest& rest);

}  // namespace landtrace::tracefs
