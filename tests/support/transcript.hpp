// Reads the recorded transcripts of tests/conformance, for tests. The language is described in
// tests/conformance/conform; the words here are Latin-1 bytes, as in the files.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace landtrace::support {

struct Step {
  std::vector<std::string> command;  // the command line's words, quotes removed, escapes kept
  std::string output;                // lines joined with a newline
};

struct Case {
  std::string name;
  std::vector<Step> steps;
};

// FILE as in "linux-6.12/10-register.txt". Empty when it cannot be read.
std::vector<Case> read_transcript(const std::string& file);

// The "FILE:CASE" keys of expected-differences.txt.
std::set<std::string> read_expected_differences();

// \n, \t, \\ and \xNN.
std::string unescape(std::string_view word);

// The bytes that the tokens of a write stand for ("u32:7", "str:hello", "loc:16,6", …).
std::string payload_of(const std::vector<std::string>& tokens);

// As `conform` compares a file: spaces at the end of lines and newlines at the end of the text do not count.
std::string as_recorded(std::string_view text);

}  // namespace landtrace::support
