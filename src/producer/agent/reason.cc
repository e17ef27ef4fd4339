// Why a place is not patched, in words.
#include "agent/agent.hpp"

namespace landtrace::agent {

const char* text_of(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "";
    case Reason::kNotThisMachine:
      return "probes are not there on this machine yet";
    case Reason::kRecipe:
      return "the code cannot be probed there";
    case Reason::kBytesDiffer:
      return "the program's code differs from the file's";
    case Reason::kNoRoom:
      return "no executable memory within reach";
    case Reason::kOutOfReach:
      return "what the code refers to is too far from where it would be moved";
    case Reason::kProtected:
      return "the system does not let the code be changed";
    case Reason::kOwnCode:
      return "the code is the tracer's own";
    case Reason::kOverlaps:
      return "too close to another probe";
    case Reason::kShadowStack:
      return "returns cannot be probed with shadow stacks";
    case Reason::kNotPermitted:
      return "the system does not let the program's threads be looked at";
    case Reason::kTraced:
      return "a debugger has the program";
    case Reason::kBusy:
      return "its threads were in the middle of the code each time";
  }
  return "";
}

}  // namespace landtrace::agent
