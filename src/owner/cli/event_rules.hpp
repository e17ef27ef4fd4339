// What `landtrace record` is told about events: -e, and the --filter and --trigger that belong to it.
#pragma once

#include <CLI/CLI.hpp>

#include "base/result.hpp"
#include "consumer/session.hpp"

namespace landtrace::cli {

// Adds -e, --filter and --trigger. `read_event_rules()` has what they say when the command line is parsed.
void add_event_options(CLI::App& subcommand);

// A --filter or --trigger behind a -e is about its events, others are about all of the recording. Several filters must all
// let an event through.
std::vector<consumer::Session::Selection> read_event_rules(const CLI::App& subcommand);

// A filter or trigger that is none: the sentence and, in lines of their own, the text and a caret below the place.
Result<void> check_event_rules(const std::vector<consumer::Session::Selection>& selections);

// "the filter 'n > 5' ...": for the end of a recording.
std::string unfit_text(const consumer::Session::Unfit& unfit);

}  // namespace landtrace::cli
