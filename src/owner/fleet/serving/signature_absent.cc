// Without OpenSSL nothing is signed, and a host that is to take signed orders alone takes none.
#include "fleet/serving/signature.hpp"

namespace landtrace::fleet {
namespace {

tl::unexpected<Error> absent() {
  return fail(ENOTSUP, "Landtrace was built without OpenSSL (libssl-dev): no signatures");
}

}  // namespace

struct PublicKey {};

Trust::Trust() = default;
Trust::Trust(Trust&& other) noexcept = default;
Trust::~Trust() = default;

Result<Trust> Trust::read(const std::string&) { return absent(); }
bool Trust::has_signed(std::string_view, std::string_view) const { return false; }
Result<std::string> sign_order(const std::string&, const std::string&) { return absent(); }
Result<void> make_key(const std::string&) { return absent(); }

}  // namespace landtrace::fleet
