// How landtrace-dwarf is asked, and answers. Its words are arguments:
//
//     landtrace-dwarf UID:GID:SECONDS PATH DEBUG_FOLDER QUESTION WORD…        the object itself is descriptor 3
//
// The answer is lines of fields with tabs between; the last one is "end", so that one that was cut off is seen.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace landtrace::dwarf {

inline constexpr int kObjectFd = 3;

// Questions, and what their words are.
inline constexpr std::string_view kValues = "values";           // OFFSET entry|return EXPRESSION…
inline constexpr std::string_view kLine = "line";               // FILE LINE
inline constexpr std::string_view kFunctions = "functions";     //
inline constexpr std::string_view kNoFunction = "no-function";  // NAME

// The first field of a line.
inline constexpr std::string_view kErrorTag = "error";          // CODE SENTENCE
inline constexpr std::string_view kValueTag = "value";          // NAME FETCH, of the expression that is next
inline constexpr std::string_view kNextTag = "next";            // that was all of it
inline constexpr std::string_view kUnknownTag = "unknown";      // SENTENCE; of the expression that is next
inline constexpr std::string_view kPlaceTag = "place";          // OFFSET
inline constexpr std::string_view kWhyTag = "why";              // SENTENCE
inline constexpr std::string_view kFunctionTag = "function";    // OFFSET FILE LINE TYPE
inline constexpr std::string_view kParameterTag = "parameter";  // NAME TYPE WHY-NOT, of the function before
inline constexpr std::string_view kEndTag = "end";

// What is no letter is shown as '?': names come from files that nobody has looked at.
void add_line(std::string& out, std::initializer_list<std::string_view> fields);
std::vector<std::string_view> fields_of_line(std::string_view line);

}  // namespace landtrace::dwarf
