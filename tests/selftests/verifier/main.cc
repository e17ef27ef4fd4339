// What our verifier says of the programs of the kernel's verifier tests, as they are compiled:
//
//     selftests_verifier OBJECT... [-v PROGRAM]
//
// A line of JSON for each program of which it is written what the kernel answers: {"object", "program", "type", "ours":
// the type runs here, "kernel" and "kernel_unprivileged": "accepts" or "refuses", "messages": the kernel's, "verdict":
// "accepts", "refuses" or "not loaded", "reason", "called": null, or of one that returns a pointer what is said of it
// without that}. -v: the log of that program, too.
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pretended_kernel.hpp"

namespace landtrace::verifier_cases {
namespace {

using Json = nlohmann::json;
using Object = std::unique_ptr<bpf_object, decltype(&bpf_object__close)>;

Object open_object(const char* path) { return {bpf_object__open_file(path, nullptr), &bpf_object__close}; }

// What the test's author wrote beside a function, by its name.
std::map<std::string, std::vector<std::string>> tags_of(const btf* types) {
  constexpr std::string_view kOurs = "comment:";
  std::map<std::string, std::vector<std::string>> tags;
  for (__u32 id = 1; id < btf__type_cnt(types); ++id) {
    const btf_type* const one = btf__type_by_id(types, id);
    if (!btf_is_decl_tag(one) || btf_decl_tag(one)->component_idx != -1) continue;
    const btf_type* const function = btf__type_by_id(types, one->type);
    const std::string_view text = btf__name_by_offset(types, one->name_off);
    if (!btf_is_func(function) || !text.starts_with(kOurs)) continue;
    tags[btf__name_by_offset(types, function->name_off)].emplace_back(text.substr(kOurs.size()));
  }
  return tags;
}

Json expected(const std::vector<std::string>& tags) {
  Json json = {{"kernel", nullptr}, {"kernel_unprivileged", nullptr}, {"messages", Json::array()}};
  for (const std::string_view tag : tags) {
    if (tag == "test_expect_failure") json["kernel"] = "refuses";
    if (tag == "test_expect_success") json["kernel"] = "accepts";
    if (tag == "test_expect_failure_unpriv") json["kernel_unprivileged"] = "refuses";
    if (tag == "test_expect_success_unpriv") json["kernel_unprivileged"] = "accepts";
    // "test_expect_msg=NUMBER=TEXT"
    if (tag.starts_with("test_expect_msg"))
      json["messages"].push_back(tag.substr(tag.find('=', tag.find('=') + 1) + 1));
  }
  return json;
}

void load_alone(const char* path, const std::string& name, bpf::Context context, unsigned log_level) {
  const Object object = open_object(path);
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object.get()) {
    const bool is_it = name == bpf_program__name(program);
    bpf_program__set_autoload(program, is_it);
    // Libbpf looks for what other types are attached to.
    if (is_it) bpf_program__set_type(program, BPF_PROG_TYPE_TRACEPOINT);
  }
  PretendedKernel::get().ask_about(name.c_str(), context, log_level);
  static_cast<void>(bpf_object__load(object.get()));
}

// Of functions of the kernel: libbpf looks for them in the kernel that is running.
bool is_of_kernel_functions(bpf_prog_type type) {
  return type == BPF_PROG_TYPE_TRACING || type == BPF_PROG_TYPE_LSM || type == BPF_PROG_TYPE_EXT ||
         type == BPF_PROG_TYPE_STRUCT_OPS;
}

const char* text_of(const std::optional<verifier::Verdict>& verdict) {
  if (!verdict) return "not loaded";
  return verdict->accepted ? "accepts" : "refuses";
}

Json judged(const char* path, const bpf_program* program, Json json, unsigned log_level) {
  const auto type = static_cast<std::uint32_t>(bpf_program__type(program));
  const auto context = bpf::context_of(type);
  const std::string name = bpf_program__name(program);
  load_alone(path, name, context.value_or(bpf::Context::kEntry), log_level);
  const auto& verdict = PretendedKernel::get().verdict();
  const auto& called = PretendedKernel::get().called();
  json["program"] = name;
  json["type"] = type;
  json["ours"] = context.has_value();
  json["verdict"] = text_of(verdict);
  json["called"] = called ? Json(text_of(called)) : Json();
  json["reason"] = verdict ? verdict->reason : "";
  if (verdict && log_level > 0) std::fputs(verdict->log.c_str(), stdout);
  return json;
}

void judge(const char* path, const char* only) {
  const Object object = open_object(path);
  if (object == nullptr) {
    std::fprintf(stderr, "%s: libbpf cannot read it: %s\n", path, std::strerror(errno));
    return;
  }
  const std::string_view file = path;
  if (bpf_object__btf(object.get()) == nullptr) return;
  const auto tags = tags_of(bpf_object__btf(object.get()));
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object.get()) {
    const auto its = tags.find(bpf_program__name(program));
    if (its == tags.end() || is_of_kernel_functions(bpf_program__type(program))) continue;
    if (only != nullptr && its->first != only) continue;
    Json json = expected(its->second);
    if (json["kernel"].is_null() && json["kernel_unprivileged"].is_null()) continue;
    json["object"] = file.substr(file.rfind('/') + 1);
    std::puts(judged(path, program, std::move(json), only == nullptr ? 0 : 2).dump().c_str());
  }
}

}  // namespace
}  // namespace landtrace::verifier_cases

int main(int argc, char** argv) {
  libbpf_set_print(nullptr);
  const char* only = nullptr;
  if (argc > 3 && std::strcmp(argv[argc - 2], "-v") == 0) {
    only = argv[argc - 1];
    argc -= 2;
  }
  for (int i = 1; i < argc; ++i) landtrace::verifier_cases::judge(argv[i], only);
  return argc > 1 ? 0 : 2;
}
