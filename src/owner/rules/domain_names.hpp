// The domain's names that all of this layer speaks of.
#pragma once

#include "domain/domain.hpp"

namespace landtrace::rules {

using domain::Cells;
using domain::ControlMemory;
using domain::Domain;
using domain::Event;
using domain::EventFile;
using domain::Events;
using domain::Grace;
using domain::Instance;
using domain::Instances;
using domain::Listening;
using domain::Plans;
using domain::Registrar;
using domain::User;
using domain::Users;

}  // namespace landtrace::rules
