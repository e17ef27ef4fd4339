// What is written to uprobe_events and kprobe_events: probes of places in programs' code.
//
//   uprobe_events   p[:[GROUP/][NAME]] PATH:OFFSET[(COUNTER)][%return] [ARGUMENT…]       OFFSET in the file
//                   p[:[GROUP/][NAME]] PATH:SYMBOL[+OFFSET][(COUNTER)][%return] …        ours, also SYMBOL@VERSION
//                   p[:[GROUP/][NAME]] PATH:PATTERN[%return] …                           ours: all functions
//                   p[:[GROUP/][NAME]] PATH:usdt:PROVIDER:NAME …                         ours: all places of that name
//                   p[:[GROUP/][NAME]] PATH:FILE:LINE …                                  ours
//   kprobe_events   p[:[GROUP/][NAME]] [MOD:]SYMBOL[+OFFSET][%return] [ARGUMENT…]
//   r instead of p: the return of the function, in kprobe_events r[MAXACTIVE]. (ARGUMENT: fetch.hpp)
//
// A MOD is a library's or program's name. One that is not there yet is taken, and waited for. The order of the checks,
// their errors and carets are the kernel's.
#pragma once

#include <optional>

#include "language/probe/command_words.hpp"
#include "language/probe/named_arguments.hpp"

namespace landtrace::language {

// Which file the probe belongs to.
enum class ProbeFamily : std::uint8_t { kUprobe, kKprobe };

struct LinePlace {
  std::string path;  // from the root folder
  std::uint64_t offset = 0;
};

// What only the owner knows of the objects that commands name.
class ProbedObjects {
 public:
  virtual ~ProbedObjects() = default;

  // PATH of PATH:OFFSET: 0; an errno; EINVAL stands for what is no regular file.
  virtual int check_file(std::string_view path) = 0;
  // Whether there is such a function, so many bytes long, in PATH of PATH:SYMBOL, which may be a name alone.
  virtual bool has_function(std::string_view path, std::string_view symbol, std::int64_t offset) = 0;
  // The places of PATH:usdt:PROVIDER:NAME. 0; an errno: the file cannot be read; ENOENT: it has none of that name.
  virtual int find_usdt(std::string_view path, std::string_view provider, std::string_view name,
                        std::vector<UsdtPlace>& places) = 0;
  // The functions of PATH that fit a pattern, and can be probed so. ENOENT with a sentence: none does, and so on;
  // without one: there is no such PATH.
  virtual Result<void> find_matching(std::string_view path, std::string_view pattern, bool is_return);
  enum class Answer { kNoModule, kFunction, kNoFunction };
  // "": any of the domain's programs.
  virtual Answer look_up(std::string_view module, std::string_view symbol) = 0;
  // Functions of no module may be waited for, too: they were there once.
  [[nodiscard]] virtual bool are_to_come() const { return false; }

  // What debugging information says. Of the place that was asked for last, so far behind it:
  virtual AllNamedFetches find_names(std::int64_t offset, bool is_return, const std::vector<std::string>& expressions);
  // Why there is no such function in PATH although its sources have it; "": for no reason that is known.
  virtual std::string why_no_function(std::string_view path, std::string_view symbol);
  // Where the code of a source line begins; a sentence for a file or line that PATH does not have.
  virtual tl::expected<LinePlace, std::string> find_line(std::string_view path, std::string_view file, unsigned line);
};

// A place as it was named.
struct NamedPlace {
  std::string object;             // PATH or MOD
  std::string symbol;             // "": an offset alone; "usdt:PROVIDER:NAME"
  std::int64_t offset = 0;        // from the symbol, or in the file
  std::uint64_t ref_counter = 0;  // in the file; 0: none
  // Of kprobe_events:
  bool is_in_module = false;  // there was a MOD, of no letters perhaps
  bool is_address = false;    // `offset` is one of the kernel's

  friend bool operator==(const NamedPlace&, const NamedPlace&) = default;
};
// As the files show it.
std::string place_text(ProbeFamily family, const NamedPlace& place);

struct FunctionProbe {
  ProbeFamily family = ProbeFamily::kUprobe;
  bool is_return = false;
  std::uint32_t maxactive = 0;  // 0: as many as there are
  std::string group;
  std::string name;
  NamedPlace place;
  std::vector<ProbeArgument> arguments;
  std::vector<UsdtPlace> usdt;  // the places that it names; none: it is no USDT probe
  std::string source_line;  // "main.c:12", if the place was named by it

  [[nodiscard]] event::Flavour flavour() const {
    return is_return ? event::Flavour::kReturnProbe : event::Flavour::kEntryProbe;
  }
};
// "p:GROUP/NAME PLACE ARGUMENT=FETCH…", the line of the files.
std::string function_probe_text(const FunctionProbe& probe);
event::Declaration declare_function_probe(const FunctionProbe& probe);

class FunctionProbeCommand {
 public:
  // The line is none of that family's. EINVAL for whoever wrote it, unless another family takes it.
  static constexpr int kOther = ECANCELED;
  static constexpr std::uint32_t kMaxActive = 4096;

  FunctionProbeCommand(ProbeFamily family, std::string_view line) : family_(family), words_(line) {}

  AcceptedProbe<FunctionProbe> parse(ProbedObjects& objects) const;

  // Refusals for reasons that only the domain knows.
  [[nodiscard]] ProbeRefusal name_is_taken() const;
  [[nodiscard]] ProbeRefusal other_kind() const;  // of the event that has the name
  [[nodiscard]] ProbeRefusal other_argument(std::size_t argument) const;
  [[nodiscard]] ProbeRefusal same_probe() const;
  [[nodiscard]] ProbeRefusal not_registered(int code) const;
  [[nodiscard]] ProbeRefusal no_such_symbol() const;  // of an argument

  // The command as the error log shows it.
  [[nodiscard]] std::string logged() const { return words_.joined(); }

 private:
  using Done = tl::expected<void, ProbeRefusal>;
  Done parse_uprobe_place(FunctionProbe& probe, ProbedObjects& objects) const;
  Done parse_function(FunctionProbe& probe, ProbedObjects& objects, std::string&& name, std::size_t at) const;
  static bool parse_parameters(FunctionProbe& probe, ProbedObjects& objects, std::string_view name);
  Done parse_usdt_place(FunctionProbe& probe, ProbedObjects& objects, std::string_view names) const;
  Done parse_counter(std::string& text, std::size_t at, NamedPlace& place) const;
  Done parse_suffix(std::string& text, std::size_t at, bool& is_return) const;
  Done parse_kprobe_place(FunctionProbe& probe, ProbedObjects& objects, bool& is_entry) const;
  Done parse_maxactive(FunctionProbe& probe) const;
  Done parse_names(FunctionProbe& probe) const;
  Done parse_source_line(std::size_t colon, FunctionProbe& probe, ProbedObjects& objects) const;
  AcceptedProbe<std::vector<ProbeArgument>> parse_arguments_of(const FunctionProbe& probe, bool is_entry,
                                                               ProbedObjects& objects) const;
  [[nodiscard]] std::optional<std::size_t> names_at() const;

  ProbeFamily family_;
  CommandWords words_;
};

// PATH or MOD of a line; "": it names none.
std::string_view probed_object(std::string_view line);

// "SYMBOL[+OFFSET]" behind an argument's @. EINVAL, ERANGE: what follows the symbol is not a number.
struct SymbolReference {
  std::string symbol;
  std::int64_t offset = 0;
};
tl::expected<SymbolReference, int> parse_symbol_reference(std::string_view text);

// The first argument in which the two differ, by name or type; nullopt: they make the same fields.
std::optional<std::size_t> first_difference(const std::vector<ProbeArgument>& a, const std::vector<ProbeArgument>& b);
// The same values are fetched in the same way.
bool are_fetched_alike(const std::vector<ProbeArgument>& a, const std::vector<ProbeArgument>& b);

}  // namespace landtrace::language
