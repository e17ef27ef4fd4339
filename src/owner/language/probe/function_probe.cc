#include "language/probe/function_probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "language/probe/argument.hpp"
#include "language/probe/names.hpp"
#include "language/probe/numbers.hpp"
#include "language/probe/probe_pattern.hpp"

namespace landtrace::language {
namespace {

constexpr std::string_view kReturnSuffix = "%return";
constexpr std::string_view kUsdt = "usdt:";
constexpr std::string_view kBadPlace = "Invalid probed address or symbol";
// Of the command: its first word, and the place.
constexpr std::size_t kNameWord = 0, kPlaceWord = 1;

tl::unexpected<ProbeRefusal> refuse_command(ProbeRefusal refusal) {
  return tl::unexpected<ProbeRefusal>(std::move(refusal));
}
// Nothing is logged.
tl::unexpected<ProbeRefusal> refuse_silently(int code) { return refuse_command({code, {}}); }

// "SYMBOL", "SYMBOL+0x10": what stands behind the symbol. nullopt: not a number.
std::optional<std::int64_t> take_symbol_offset(std::string& symbol) {
  auto reference = parse_symbol_reference(symbol);
  if (!reference) return std::nullopt;
  symbol = std::move(reference->symbol);
  return reference->offset;
}

std::string with_offset(std::string_view symbol, std::int64_t offset) {
  return offset == 0 ? std::string(symbol) : fmt::format("{}+{}", symbol, offset);
}

bool is_in_name(char c) { return is_alnum(c) || c == '_'; }

// Of an event that was given no name.
std::string default_name(const FunctionProbe& probe) {
  const NamedPlace& place = probe.place;
  const char kind = probe.is_return ? 'r' : 'p';
  std::string name;
  if (probe.family == ProbeFamily::kKprobe) {
    if (place.is_address) return fmt::format("{}_0x{:x}", kind, place.offset);
    const std::string symbol = place.is_in_module ? place.object + ":" + place.symbol : place.symbol;
    name = fmt::format("{}_{}_{}", kind, symbol, place.offset);
    std::replace_if(
        name.begin() + 1, name.end(), [](char c) { return c == ':' || c == '.'; }, '_');
  } else {
    std::string file = place.object.substr(place.object.rfind('/') + 1);
    file.resize(std::min(file.find_first_of(".-_"), file.size()));
    if (place.symbol.empty() && probe.source_line.empty()) {
      name = fmt::format("p_{}_0x{:x}", file, place.offset);
    } else {
      const bool is_line = place.symbol.empty();
      name = fmt::format("{}_{}_{}", kind, file, is_line ? probe.source_line : place.symbol);
      if (place.offset != 0 && !is_line) name += fmt::format("_{}", place.offset);
      std::replace_if(
          name.begin(), name.end(), [](char c) { return !is_in_name(c); }, '_');
    }
  }
  name.resize(std::min(name.size(), kMaxProbeName - 1));
  return name;
}

// What begins otherwise is no function's name, nor a pattern of names, in any language.
bool may_be_name(std::string_view text) {
  if (text.empty()) return false;
  const char first = text[0];
  const bool is_letter = (first | 0x20) >= 'a' && (first | 0x20) <= 'z';
  return is_letter || (first & 0x80) != 0 || std::string_view("_.$~*?[<{").find(first) != std::string_view::npos ||
         text.starts_with("(anonymous");
}

}  // namespace

std::string place_text(ProbeFamily family, const NamedPlace& place) {
  if (family == ProbeFamily::kUprobe) {
    std::string text = place.symbol.empty()
                           ? fmt::format("{}:0x{:016x}", place.object, place.offset)
                           : fmt::format("{}:{}", place.object, with_offset(place.symbol, place.offset));
    if (place.ref_counter != 0) text += fmt::format("(0x{:x})", place.ref_counter);
    return text;
  }
  if (place.is_address) return fmt::format("0x{:016x}", place.offset);
  const std::string symbol = with_offset(place.symbol, place.offset);
  return place.is_in_module ? place.object + ":" + symbol : symbol;
}

std::string function_probe_text(const FunctionProbe& probe) {
  std::string front(1, probe.is_return ? 'r' : 'p');
  if (probe.is_return && probe.maxactive != 0) front += fmt::format("{}", probe.maxactive);
  return fmt::format("{}:{}/{} {}{}", front, probe.group, probe.name, place_text(probe.family, probe.place),
                     arguments_text(probe.arguments));
}

event::Declaration declare_function_probe(const FunctionProbe& probe) {
  return event::lay_out_probe(probe.flavour(), probe.name, fields_of(probe.arguments));
}

std::optional<std::size_t> first_difference(const std::vector<ProbeArgument>& a, const std::vector<ProbeArgument>& b) {
  if (a.size() != b.size()) return std::min(a.size(), b.size());
  const auto is_same = [](const ProbeArgument& one, const ProbeArgument& other) {
    return one.type == other.type && one.count == other.count && one.name == other.name;
  };
  const auto found = std::mismatch(a.begin(), a.end(), b.begin(), is_same).first;
  if (found == a.end()) return std::nullopt;
  return static_cast<std::size_t>(found - a.begin());
}

bool are_fetched_alike(const std::vector<ProbeArgument>& a, const std::vector<ProbeArgument>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ProbeArgument& one, const ProbeArgument& other) { return one.text == other.text; });
}

tl::expected<SymbolReference, int> parse_symbol_reference(std::string_view text) {
  const auto sign = text.find_first_of("+-");
  if (sign == std::string_view::npos) return SymbolReference{std::string(text), 0};
  const auto offset = read_signed(text.substr(sign));
  if (!offset) return tl::unexpected<int>(offset.error());
  return SymbolReference{std::string(text.substr(0, sign)), *offset};
}

std::string_view probed_object(std::string_view line) {
  const CommandWords words(line);
  const bool is_probe = words.size() >= 2 && (words[kNameWord][0] == 'p' || words[kNameWord][0] == 'r');
  if (!is_probe) return {};
  const std::string_view place = words[kPlaceWord];
  return place.substr(0, place.find(':') == std::string_view::npos ? 0 : place.find(':'));
}

ProbeRefusal FunctionProbeCommand::name_is_taken() const {
  return words_.refusal("Given group/event name is already used by another event", kNameWord, 0, EEXIST);
}
ProbeRefusal FunctionProbeCommand::other_kind() const {
  return words_.refusal("Probe type is different from existing probe", kNameWord, 0, EEXIST);
}
ProbeRefusal FunctionProbeCommand::other_argument(std::size_t argument) const {
  return words_.refusal("Argument type or name is different from existing probe", argument + 2, 0, EEXIST);
}
ProbeRefusal FunctionProbeCommand::same_probe() const {
  return words_.refusal("There is already the exact same probe event", kNameWord, 0, EEXIST);
}
ProbeRefusal FunctionProbeCommand::not_registered(int code) const {
  return words_.refusal("Failed to register probe event", kPlaceWord, 0, code);
}

ProbeRefusal FunctionProbeCommand::no_such_symbol() const { return words_.refusal(kBadPlace, kPlaceWord, 0, ENOENT); }

AcceptedProbe<FunctionProbe> FunctionProbeCommand::parse(ProbedObjects& objects) const {
  FunctionProbe probe;
  probe.family = family_;
  const bool is_kprobe = family_ == ProbeFamily::kKprobe;
  probe.group = is_kprobe ? "kprobes" : "uprobes";
  const bool is_ours = words_.size() >= 2 && (words_[kNameWord][0] == 'p' || words_[kNameWord][0] == 'r');
  if (!is_ours) return refuse_silently(kOther);
  probe.is_return = words_[kNameWord][0] == 'r';
  bool is_entry = false;
  if (is_kprobe) {
    if (auto done = parse_maxactive(probe); !done) return refuse_command(done.error());
    if (auto done = parse_kprobe_place(probe, objects, is_entry); !done) return refuse_command(done.error());
  } else {
    if (words_.size() - 2 > kMaxProbeArguments) return refuse_silently(E2BIG);
    if (auto done = parse_uprobe_place(probe, objects); !done) return refuse_command(done.error());
    is_entry = !probe.place.symbol.empty() && probe.place.offset == 0;
  }
  if (auto done = parse_names(probe); !done) return refuse_command(done.error());
  if (probe.name.empty()) probe.name = default_name(probe);
  auto arguments = parse_arguments_of(probe, is_entry, objects);
  if (!arguments) return refuse_command(arguments.error());
  probe.arguments = *std::move(arguments);
  return probe;
}

Result<void> ProbedObjects::find_matching(std::string_view, std::string_view, bool) { return fail(ENOENT); }

AllNamedFetches ProbedObjects::find_names(std::int64_t, bool, const std::vector<std::string>&) {
  return tl::unexpected<std::string>("no debugging information");
}

std::string ProbedObjects::why_no_function(std::string_view, std::string_view) { return {}; }

tl::expected<LinePlace, std::string> ProbedObjects::find_line(std::string_view, std::string_view, unsigned) {
  return tl::unexpected<std::string>("");
}

AcceptedProbe<std::vector<ProbeArgument>> FunctionProbeCommand::parse_arguments_of(const FunctionProbe& probe,
                                                                                   bool is_entry,
                                                                                   ProbedObjects& objects) const {
  const bool is_kprobe = family_ == ProbeFamily::kKprobe;
  FetchScope scope{is_kprobe ? FetchScope::Kind::kKernel : FetchScope::Kind::kUser, probe.is_return, is_entry};
  if (!probe.usdt.empty()) scope.usdt = &probe.usdt;
  if (is_kprobe && !is_entry && !probe.is_return) {
    // The kernel looks for these before it reads any argument.
    for (std::size_t word = 2; word < words_.size(); ++word) {
      if (!words_[word].starts_with("$arg")) continue;
      return refuse_command(words_.refusal("$arg* can be used only on function entry or exit", word));
    }
  }
  if (words_.size() - 2 > kMaxProbeArguments) {
    return refuse_command(words_.refusal("Too many arguments are specified", 2, 0, E2BIG));
  }
  // Where the kernel's own forms of a place are used, so are the kernel's answers.
  const bool is_ours = !probe.place.symbol.empty() || !probe.source_line.empty();
  const bool has_names = !is_kprobe && is_ours && probe.usdt.empty();
  if (!has_names) return parse_arguments(words_, words_.size(), scope);
  const std::vector<std::string> expressions = named_expressions(words_, probe.is_return);
  if (expressions.empty()) return parse_arguments(words_, words_.size(), scope);
  // From the function, or from the line that was found.
  const std::int64_t offset = probe.source_line.empty() ? probe.place.offset : 0;
  const auto named = objects.find_names(offset, probe.is_return, expressions);
  return parse_named_arguments(words_, scope, expressions, named);
}

// Where in the first word the names begin.
std::optional<std::size_t> FunctionProbeCommand::names_at() const {
  const std::string_view word = words_[kNameWord];
  if (family_ == ProbeFamily::kUprobe) return word.size() > 1 && word[1] == ':' ? std::optional(2u) : std::nullopt;
  const auto colon = word.find(':', 1);
  return colon == std::string_view::npos ? std::nullopt : std::optional(colon + 1);
}

FunctionProbeCommand::Done FunctionProbeCommand::parse_names(FunctionProbe& probe) const {
  const auto at = names_at();
  if (!at) return {};
  const auto names = split_probe_names(words_[kNameWord].substr(*at));
  if (!names) return refuse_command(words_.refusal(names.error().what, kNameWord, *at + names.error().offset));
  if (names->group) probe.group = *names->group;
  if (names->event) probe.name = *names->event;
  return {};
}

// "PATH:0x10(0x20)": the counter is cut off.
FunctionProbeCommand::Done FunctionProbeCommand::parse_counter(std::string& text, std::size_t at,
                                                               NamedPlace& place) const {
  const auto open = text.find('(');
  if (open == std::string::npos) return {};
  const auto close = text.find(')', open);
  if (close == std::string::npos) {
    return refuse_command(words_.refusal("Reference counter brace is not closed", kPlaceWord, at + text.size()));
  }
  if (close + 1 != text.size()) {
    return refuse_command(words_.refusal("Reference counter has wrong suffix", kPlaceWord, at + close + 1));
  }
  const auto counter = read_unsigned(std::string_view(text).substr(open + 1, close - open - 1));
  if (!counter) {
    return refuse_command(
        words_.refusal("Invalid reference counter offset", kPlaceWord, at + open + 1, counter.error()));
  }
  place.ref_counter = *counter;
  text.resize(open);
  return {};
}

FunctionProbeCommand::Done FunctionProbeCommand::parse_suffix(std::string& text, std::size_t at,
                                                              bool& is_return) const {
  const auto percent = text.find('%');
  if (percent == std::string::npos) return {};
  if (std::string_view(text).substr(percent) != kReturnSuffix) {
    return refuse_command(words_.refusal("Invalid probed address suffix", kPlaceWord, at + percent));
  }
  text.resize(percent);
  is_return = true;
  return {};
}

FunctionProbeCommand::Done FunctionProbeCommand::parse_uprobe_place(FunctionProbe& probe,
                                                                    ProbedObjects& objects) const {
  const std::string_view word = words_[kPlaceWord];
  NamedPlace& place = probe.place;
  auto colon = word.rfind(':');
  const bool is_offset = colon != std::string_view::npos && colon + 1 < word.size() && is_digit(word[colon + 1]);
  const bool is_file = word.find('/') != std::string_view::npos;
  if (!is_offset) colon = word.find(':');  // a symbol may have colons in it
  if (colon == std::string_view::npos) return refuse_silently(kOther);
  place.object = word.substr(0, colon);
  std::string rest(word.substr(colon + 1));
  if (rest.starts_with(kUsdt) && !rest.starts_with("usdt::")) return parse_usdt_place(probe, objects, rest);
  const std::size_t at = colon + 1;
  if (is_offset) {
    const int code = is_file ? objects.check_file(place.object) : ENOENT;
    if (code == ENOENT && word.find(':') != colon) {
      if (auto done = parse_source_line(colon, probe, objects); done || done.error().code != kOther) return done;
    }
    if (!is_file) return refuse_silently(kOther);
    if (code != 0) {
      const bool is_there = code == EINVAL;
      return refuse_command(
          words_.refusal(is_there ? "Not a regular file" : "Failed to find the given file", kPlaceWord, 0, code));
    }
  }
  if (!is_offset && !may_be_name(rest)) return refuse_silently(kOther);
  if (!is_offset && parse_parameters(probe, objects, rest)) return {};
  if (auto done = parse_counter(rest, at, place); !done) return done;
  if (auto done = parse_suffix(rest, at, probe.is_return); !done) return done;
  if (is_offset) {
    const auto offset = read_unsigned(rest);
    if (!offset) return refuse_command(words_.refusal("Invalid uprobe offset", kPlaceWord, at, offset.error()));
    place.offset = static_cast<std::int64_t>(*offset);
    return {};
  }
  return parse_function(probe, objects, std::move(rest), at);
}

// "ns::f(int)", which looks as if it had a counter. Whether there is such a function.
bool FunctionProbeCommand::parse_parameters(FunctionProbe& probe, ProbedObjects& objects, std::string_view name) {
  if (name.find('(') == std::string_view::npos) return false;
  const bool is_return = name.ends_with(kReturnSuffix);
  if (is_return) name.remove_suffix(kReturnSuffix.size());
  if (!objects.has_function(probe.place.object, name, 0)) return false;
  probe.place.symbol = name;
  probe.is_return = probe.is_return || is_return;
  return true;
}

// What the kernel would not take either gets its answer.
FunctionProbeCommand::Done FunctionProbeCommand::parse_function(FunctionProbe& probe, ProbedObjects& objects,
                                                                std::string&& name, std::size_t at) const {
  NamedPlace& place = probe.place;
  if (name.empty()) return refuse_silently(kOther);
  place.symbol = std::move(name);
  if (objects.has_function(place.object, place.symbol, 0)) return {};
  if (is_name_pattern(place.symbol)) {
    const auto found = objects.find_matching(place.object, place.symbol, probe.is_return);
    if (found) return {};
    if (found.error().message.empty()) return refuse_silently(kOther);
    return refuse_command(words_.own_refusal(found.error().message, kPlaceWord, at, found.error().code));
  }
  const auto refuse = [&](const std::string& symbol) {
    std::string why = objects.why_no_function(place.object, symbol);
    if (why.empty()) return refuse_silently(kOther);
    return refuse_command(words_.own_refusal(std::move(why), kPlaceWord, at));
  };
  // Names of functions may have a + or - in them.
  const auto sign = place.symbol.find_last_of("+-");
  const auto offset =
      sign == std::string::npos ? read_signed("x") : read_signed(std::string_view(place.symbol).substr(sign));
  if (!offset || *offset < 0) return refuse(place.symbol);
  place.symbol.resize(sign);
  place.offset = *offset;
  return objects.has_function(place.object, place.symbol, place.offset) ? Done() : refuse(place.symbol);
}

// "PATH:FILE:LINE", where no file is called "PATH:FILE". kOther: it is none of those.
FunctionProbeCommand::Done FunctionProbeCommand::parse_source_line(std::size_t colon, FunctionProbe& probe,
                                                                   ProbedObjects& objects) const {
  const std::string_view word = words_[kPlaceWord];
  const std::size_t first = word.find(':');
  const std::string_view path = word.substr(0, first);
  const std::string_view file = word.substr(first + 1, colon - first - 1);
  const auto line = read_unsigned(word.substr(colon + 1), 10);
  if (path.empty() || file.empty() || is_digit(file.front()) || !line || *line == 0 || *line > INT32_MAX)
    return refuse_silently(kOther);
  auto found = objects.find_line(path, file, static_cast<unsigned>(*line));
  if (!found && found.error().empty()) return refuse_silently(kOther);
  if (!found) return refuse_command(words_.own_refusal(std::move(found.error()), kPlaceWord, first + 1));
  if (probe.is_return) {
    return refuse_command(words_.own_refusal("a source line has no return: name its function", kPlaceWord, first + 1));
  }
  probe.place.object = std::move(found->path);
  probe.place.offset = static_cast<std::int64_t>(found->offset);
  probe.source_line = word.substr(first + 1);
  return {};
}

FunctionProbeCommand::Done FunctionProbeCommand::parse_usdt_place(FunctionProbe& probe, ProbedObjects& objects,
                                                                  std::string_view names) const {
  const std::size_t at = probe.place.object.size() + 1;
  const auto refuse = [&](std::string_view what, std::size_t offset = 0, int code = EINVAL) {
    return refuse_command(words_.refusal(what, kPlaceWord, at + offset, code));
  };
  const auto colon = names.find(':', kUsdt.size());
  if (colon == std::string_view::npos || colon + 1 == names.size()) return refuse("Want usdt:PROVIDER:NAME");
  if (probe.is_return) return refuse("A USDT place has no return");
  const std::string_view provider = names.substr(kUsdt.size(), colon - kUsdt.size());
  const std::string_view name = names.substr(colon + 1);
  const int code = objects.find_usdt(probe.place.object, provider, name, probe.usdt);
  if (code == ENOENT) return refuse("The file has no USDT place of that name", kUsdt.size(), code);
  if (code != 0) return refuse_command(words_.refusal("Failed to find the given file", kPlaceWord, 0, code));
  probe.place.symbol = names;
  return {};
}

FunctionProbeCommand::Done FunctionProbeCommand::parse_maxactive(FunctionProbe& probe) const {
  const std::string_view word = words_[kNameWord];
  if (word.size() < 2 || !is_digit(word[1])) return {};
  const auto refuse = [&](std::string_view what) { return refuse_command(words_.refusal(what, kNameWord, 1)); };
  if (!probe.is_return) return refuse("Maxactive is only for function exit");
  const std::string_view digits = word.substr(1, word.find(':') - 1);
  const auto number = read_unsigned(digits);
  if (digits.size() >= kMaxProbeName || !number || *number == 0 || *number > UINT32_MAX) {
    return refuse("Invalid maxactive number");
  }
  if (*number > kMaxActive) return refuse("Maxactive is too big");
  probe.maxactive = static_cast<std::uint32_t>(*number);
  return {};
}

FunctionProbeCommand::Done FunctionProbeCommand::parse_kprobe_place(FunctionProbe& probe, ProbedObjects& objects,
                                                                    bool& is_entry) const {
  const std::string_view word = words_[kPlaceWord];
  NamedPlace& place = probe.place;
  if (const auto address = read_unsigned(word); address) {
    place.is_address = true;
    place.offset = static_cast<std::int64_t>(*address);
    return {};
  }
  const bool is_uprobe = word.find('/') != std::string_view::npos && word.find(':') != std::string_view::npos;
  if (is_uprobe) return refuse_silently(kOther);
  std::string symbol(word);
  if (auto done = parse_suffix(symbol, 0, probe.is_return); !done) return done;
  const auto bad = [&](std::string_view what = kBadPlace) { return refuse_command(words_.refusal(what, kPlaceWord)); };
  const auto offset = take_symbol_offset(symbol);
  if (!offset || *offset < 0 || *offset > UINT32_MAX) return bad();
  place.offset = *offset;
  const auto colon = symbol.find(':');
  place.is_in_module = colon != std::string::npos;
  if (place.is_in_module) place.object = symbol.substr(0, colon);
  place.symbol = place.is_in_module ? symbol.substr(colon + 1) : symbol;
  const auto answer = objects.look_up(place.object, place.symbol);
  if (answer == ProbedObjects::Answer::kNoFunction) return bad();
  // Of a module that is not there yet nothing is known, and nothing is refused.
  if (answer == ProbedObjects::Answer::kNoModule) return place.is_in_module || objects.are_to_come() ? Done() : bad();
  is_entry = place.offset == 0;
  if (probe.is_return && !is_entry) return bad("Return probe must be a function entry");
  return {};
}

}  // namespace landtrace::language
