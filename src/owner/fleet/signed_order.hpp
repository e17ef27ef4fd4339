// An order with a signature: that it comes from who has a key that the host trusts, is as it was given, under the name
// that it was given, and has an end. What signs and verifies is in serving/signature.hpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::fleet {

// What is signed of an order: its JSON without the signature, names in their order and without spaces, behind a line
// that says what it is. EINVAL for what is no object.
Result<std::string> signed_bytes(const std::string& json);

// The order with a signature in it. EINVAL.
Result<std::string> with_signature(const std::string& json, std::string_view signature);

// Whether one of the trusted keys has signed these bytes.
using Verify = std::function<bool(std::string_view bytes, std::string_view signature)>;
// The order as it was signed, for a host that takes no other ones. `key`: where it stands in the bucket. EACCES with
// the reason: without a signature, with another one, changed since, of another name, without an end or behind it.
Result<std::string> verified_order(const std::string& key, const std::string& json, std::uint64_t now_ns,
                                   const Verify& verify);

}  // namespace landtrace::fleet
