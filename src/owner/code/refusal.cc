#include "code/refusal.hpp"

namespace landtrace::code {

using agent::Refusal;
using agent::Way;

std::string_view refusal_text(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "";
    case Refusal::kNoCode:
      return "it is not the beginning of an instruction in a function of the file";
    case Refusal::kTooShort:
      return "the function has less than the 5 bytes that a jump takes, and other code follows it";
    case Refusal::kJumpTarget:
      return "something jumps or returns into the 5 bytes that a jump would overwrite";
    case Refusal::kMayBeJumpTarget:
      return "the function jumps by a table that is not understood, perhaps into the 5 bytes that a jump would "
             "overwrite";
    case Refusal::kSignalFrame:
      return "signal handlers return through it, and the kernel and debuggers know it by its bytes";
    case Refusal::kUnknown:
      return "an instruction there cannot be run at another place";
    case Refusal::kOwnCode:
      return "it belongs to Landtrace, which would probe itself";
    case Refusal::kSeesItsCaller:
      return "it looks at its return address or returns more than once, so its returns cannot be seen";
    case Refusal::kNoReturnAddress:
      return "nothing calls it, so it does not return";
    case Refusal::kNotAnEntry:
      return "it is not known to be called, so there is no return to wait for";
  }
  return "it is not known how";
}

std::string_view refusal_word(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "none";
    case Refusal::kNoCode:
      return "no-code";
    case Refusal::kTooShort:
      return "too-short";
    case Refusal::kJumpTarget:
      return "jump-target";
    case Refusal::kMayBeJumpTarget:
      return "unknown-jumps";
    case Refusal::kSignalFrame:
      return "signal-frame";
    case Refusal::kUnknown:
      return "instruction";
    case Refusal::kOwnCode:
      return "own-code";
    case Refusal::kSeesItsCaller:
      return "sees-caller";
    case Refusal::kNoReturnAddress:
      return "no-return-address";
    case Refusal::kNotAnEntry:
      return "not-called";
  }
  return "unknown";
}

std::string_view way_word(Way way) {
  switch (way) {
    case Way::kRefused:
      return "refused";
    case Way::kOneStore:
      return "one-store";
    case Way::kQuiet:
      return "quiet";
    case Way::kAlone:
      return "alone";
  }
  return "unknown";
}

}  // namespace landtrace::code
