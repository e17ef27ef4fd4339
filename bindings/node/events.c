/* The events of a Node program, an add-on by Node-API: declared as in any C program, a function each.
 *
 *     cc -shared -fPIC -O2 -I/usr/include/node events.c -o events.node -llandtrace
 *     landtrace record -- node example.js */
#include <landtrace/landtrace.h>
#include <node_api.h>

LANDTRACE_EVENT(req_done, LT_U32(id), LT_TEXT(route));

/* reqDone(id, route): whether somebody listened. A route of more than 1 KiB is cut. */
static napi_value emit_req_done(napi_env node, napi_callback_info call) {
  napi_value result, arguments[2];
  size_t count = 2, length = 0;
  uint32_t id = 0;
  char route[1025];
  int heard = 0;
  if (LANDTRACE_ENABLED(req_done)) {
    if (napi_get_cb_info(node, call, &count, arguments, NULL, NULL) != napi_ok || count < 2 ||
        napi_get_value_uint32(node, arguments[0], &id) != napi_ok ||
        napi_get_value_string_utf8(node, arguments[1], route, sizeof route, &length) != napi_ok) {
      napi_throw_type_error(node, NULL, "reqDone(id, route): a number and a string");
      return NULL;
    }
    heard = LANDTRACE_EMIT(req_done, id, route, length) == 0;
  }
  return napi_get_boolean(node, heard, &result) == napi_ok ? result : NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "reqDone", NAPI_AUTO_LENGTH, emit_req_done, NULL, &function) == napi_ok) {
    napi_set_named_property(env, exports, "reqDone", function);
  }
  return exports;
}
