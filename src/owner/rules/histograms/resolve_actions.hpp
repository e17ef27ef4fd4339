// What a histogram's actions name: their variables, fields and synthetic events.
#pragma once

#include <functional>

#include "rules/histograms/variables.hpp"

namespace landtrace::rules {

// Makes a histogram with the command on another event. The complaints about it are those of the command that wants it.
using MakeHidden = std::function<Result<void>(Event& event, const std::string& command)>;

// Fills in what the histogram's actions need. What it holds by then is to be let go of if this fails (let_go_of()).
// EINVAL, EBUSY, EEXIST, ENOMEM.
Result<void> resolve_actions(Events& events, Instance& instance, Event& event, Histogram& histogram,
                             const MakeHidden& make_hidden, language::HistComplaints& complaints);

}  // namespace landtrace::rules
