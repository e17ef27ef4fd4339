/* landtrace._landtrace: what is called for each event. The stable ABI of CPython 3.10, so that one build serves all
 * versions from there on. Everything else of the package is Python. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#include <Python.h>
#include <landtrace/landtrace.h>

#define MOST_FIELDS 64
#define MOST_FIXED 4096
#define MOST_VECTORS 64

/* `kind` is a letter of FIELD_KINDS in __init__.py: u and s integers, o bool, f float, d double, t str, b bytes, c
 * char[]. */
struct field {
  char kind;
  unsigned short offset;
  unsigned short size;
};

typedef struct {
  PyObject_HEAD struct landtrace_event event; /* stays where it is as long as the object */
  int is_registered;
  int refusal;           /* an errno, with which the library tries again; 0: none */
  PyObject* declaration; /* bytes */
  PyObject* names;       /* of the fields, a tuple */
  int count;
  unsigned size; /* of the fixed part */
  struct field fields[MOST_FIELDS];
} Event;

struct payload {
  unsigned char fixed[MOST_FIXED];
  struct iovec vectors[MOST_VECTORS];
  int count;
  size_t size;
};

/* An int. */
static int put_number(struct payload* payload, const struct field* field, PyObject* value) {
  const unsigned bits = field->size * 8u;
  unsigned long long number;
  if (field->kind == 's') {
    const long long read = PyLong_AsLongLong(value);
    if (read == -1 && PyErr_Occurred()) return -1;
    if (bits < 64 && (read < -(1ll << (bits - 1)) || read >= 1ll << (bits - 1))) {
      PyErr_Format(PyExc_OverflowError, "%lld does not fit into %u bits", read, bits);
      return -1;
    }
    number = (unsigned long long)read;
  } else {
    number = PyLong_AsUnsignedLongLong(value);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) return -1;
    if (bits < 64 && number >> bits != 0) {
      PyErr_Format(PyExc_OverflowError, "%llu does not fit into %u bits", number, bits);
      return -1;
    }
  }
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  number <<= 64 - bits;
#endif
  memcpy(payload->fixed + field->offset, &number, field->size);
  return 0;
}

/* What numpy has, say, is no int but can be one. */
static int put_integer(struct payload* payload, const struct field* field, PyObject* value) {
  if (PyLong_Check(value)) return put_number(payload, field, value);
  PyObject* const number = PyNumber_Index(value);
  if (!number) return -1;
  const int result = put_number(payload, field, number);
  Py_DECREF(number);
  return result;
}

static int put_truth(struct payload* payload, const struct field* field, PyObject* value) {
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) return -1;
  payload->fixed[field->offset] = (unsigned char)truth;
  return 0;
}

static int put_real(struct payload* payload, const struct field* field, PyObject* value) {
  const double number = PyFloat_AsDouble(value);
  const float part = (float)number;
  if (number == -1.0 && PyErr_Occurred()) return -1;
  memcpy(payload->fixed + field->offset, field->kind == 'f' ? (const void*)&part : (const void*)&number, field->size);
  return 0;
}

/* The text or the bytes stay where they are until the event is written. */
static const char* view_of(PyObject* value, int is_text, Py_ssize_t* length) {
  if (is_text) return PyUnicode_AsUTF8AndSize(value, length);
  char* bytes = NULL;
  if (PyBytes_AsStringAndSize(value, &bytes, length) != 0) return NULL;
  return bytes;
}

static int put_dynamic(struct payload* payload, const struct field* field, PyObject* value) {
  const int is_text = field->kind == 't';
  Py_ssize_t length = 0;
  const char* const data = view_of(value, is_text, &length);
  if (!data) return -1;
  const size_t size = (size_t)length + (is_text ? 1 : 0); /* Python's text has its NUL */
  if (size > LANDTRACE_MAX_PAYLOAD || payload->size + size > LANDTRACE_MAX_PAYLOAD) {
    PyErr_SetString(PyExc_ValueError, "the event is larger than 64 KiB");
    return -1;
  }
  const uint32_t place = (uint32_t)(size << 16 | ((payload->size - field->offset - 4) & 0xffff));
  memcpy(payload->fixed + field->offset, &place, sizeof place);
  payload->vectors[payload->count].iov_base = (void*)data;
  payload->vectors[payload->count++].iov_len = size;
  payload->size += size;
  return 0;
}

static int put_chars(struct payload* payload, const struct field* field, PyObject* value) {
  Py_ssize_t length = 0;
  const char* const data = view_of(value, 1, &length);
  if (!data) return -1;
  const size_t size = (size_t)length < field->size ? (size_t)length : field->size;
  memcpy(payload->fixed + field->offset, data, size);
  memset(payload->fixed + field->offset + size, 0, field->size - size);
  return 0;
}

static int put(struct payload* payload, const struct field* field, PyObject* value) {
  switch (field->kind) {
    case 'u':
    case 's':
      return put_integer(payload, field, value);
    case 'o':
      return put_truth(payload, field, value);
    case 'f':
    case 'd':
      return put_real(payload, field, value);
    case 'c':
      return put_chars(payload, field, value);
    default:
      return put_dynamic(payload, field, value);
  }
}

/* The argument of field `i`: by its place, or by its name. */
static PyObject* argument(const Event* self, PyObject* const* args, Py_ssize_t given, PyObject* names, int i) {
  if (i < given) return args[i];
  PyObject* const name = PyTuple_GetItem(self->names, i);
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t k = 0; k < named; ++k) {
    const int same = PyObject_RichCompareBool(PyTuple_GetItem(names, k), name, Py_EQ);
    if (same < 0) return NULL;
    if (same) return args[given + k];
  }
  PyErr_Format(PyExc_TypeError, "there is no value for the field '%U'", name);
  return NULL;
}

/* emit(*values, **values_by_name) */
static PyObject* event_emit(PyObject* object, PyObject* const* args, Py_ssize_t given, PyObject* names) {
  const Event* const self = (const Event*)object;
  if (given + (names ? PyTuple_Size(names) : 0) != self->count) {
    return PyErr_Format(PyExc_TypeError, "the event has %d fields, not %zd", self->count,
                        given + (names ? PyTuple_Size(names) : 0));
  }
  if (!landtrace_enabled(&self->event)) Py_RETURN_FALSE;
  struct payload payload;
  payload.count = 1;
  payload.size = self->size;
  for (int i = 0; i < self->count; ++i) {
    PyObject* const value = argument(self, args, given, names, i);
    if (!value || put(&payload, &self->fields[i], value) != 0) return NULL;
  }
  payload.vectors[0].iov_base = payload.fixed;
  payload.vectors[0].iov_len = self->size;
  if (landtrace_emit_enabled(&self->event, payload.vectors, payload.count, payload.size) == 0) Py_RETURN_TRUE;
  Py_RETURN_FALSE;
}

/* Fields are (kind, offset, size), as __init__.py has laid them out. */
static int read_fields(Event* self, PyObject* fields) {
  const Py_ssize_t count = PyTuple_Size(fields);
  int dynamic = 0;
  unsigned end = 0;
  if (count > MOST_FIELDS) {
    PyErr_Format(PyExc_ValueError, "an event has at most %d fields", MOST_FIELDS);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    struct field* const field = &self->fields[i];
    int kind;
    if (!PyArg_ParseTuple(PyTuple_GetItem(fields, i), "CHH", &kind, &field->offset, &field->size)) return -1;
    field->kind = (char)kind;
    if (field->offset != end || end + field->size > MOST_FIXED || (strchr("us", kind) && field->size > 8)) {
      PyErr_SetString(PyExc_ValueError, "the fields are larger than 4096 bytes");
      return -1;
    }
    end += field->size;
    dynamic += kind == 't' || kind == 'b';
  }
  if (dynamic >= MOST_VECTORS) {
    PyErr_SetString(PyExc_ValueError, "an event has at most 63 texts");
    return -1;
  }
  self->count = (int)count;
  self->size = end;
  return 0;
}

/* The owner may take its time to answer: other threads run meanwhile. */
static int register_event(Event* self, unsigned flags) {
  const char* const declaration = PyBytes_AsString(self->declaration);
  int result;
  Py_BEGIN_ALLOW_THREADS;
  result = landtrace_register(&self->event, declaration, flags | LANDTRACE_RETRY);
  Py_END_ALLOW_THREADS;
  return result;
}

/* Functions as pointers to data and back: what the stable ABI wants. */
static PyObject* event_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  PyObject *declaration, *names, *fields;
  unsigned flags;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "SO!O!I", &declaration, &PyTuple_Type, &names, &PyTuple_Type, &fields, &flags)) {
    return NULL;
  }
  const allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Event* const self = (Event*)allocate(type, 0);
  if (!self) return NULL;
  self->event = (struct landtrace_event)LANDTRACE_EVENT_INIT;
  Py_INCREF(declaration);
  self->declaration = declaration;
  Py_INCREF(names);
  self->names = names;
  if (PyTuple_Size(names) != PyTuple_Size(fields)) {
    PyErr_SetString(PyExc_ValueError, "names and fields differ");
  } else if (read_fields(self, fields) == 0) {
    self->refusal = -register_event(self, flags);
    self->is_registered = self->refusal != EINVAL;
    if (self->is_registered) return (PyObject*)self;
    errno = self->refusal;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, PyBytes_AsString(declaration));
  }
  Py_DECREF(self);
  return NULL;
}

static void event_dealloc(PyObject* object) {
  Event* const self = (Event*)object;
  PyTypeObject* const type = Py_TYPE(object);
  if (self->is_registered) {
    Py_BEGIN_ALLOW_THREADS;
    landtrace_unregister(&self->event);
    Py_END_ALLOW_THREADS;
  }
  Py_XDECREF(self->declaration);
  Py_XDECREF(self->names);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static PyObject* event_enabled(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(landtrace_enabled(&((Event*)self)->event));
}
static PyObject* event_declaration(PyObject* self, void* unused) {
  (void)unused;
  return PyUnicode_FromString(PyBytes_AsString(((Event*)self)->declaration));
}

static PyObject* event_refusal(PyObject* self, void* unused) {
  const Event* const event = (const Event*)self;
  (void)unused;
  return PyLong_FromLong(landtrace_event_backend(&event->event) == LANDTRACE_NONE ? event->refusal : 0);
}

static PyMethodDef event_methods[] = {
    {"emit", (PyCFunction)(void (*)(void))event_emit, METH_FASTCALL | METH_KEYWORDS,
     "emit(*values): the event happens. False if nobody listens, and then nothing is done."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef event_properties[] = {{"enabled", event_enabled, NULL, "Whether somebody listens.", NULL},
                                         {"declaration", event_declaration, NULL, "As it was registered.", NULL},
                                         {"_refusal", event_refusal, NULL, NULL, NULL},
                                         {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot event_slots[] = {{Py_tp_new, (void*)event_new},
                                    {Py_tp_dealloc, (void*)event_dealloc},
                                    {Py_tp_methods, event_methods},
                                    {Py_tp_getset, event_properties},
                                    {0, NULL}};
static PyType_Spec event_spec = {"landtrace._landtrace.Event", sizeof(Event), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, event_slots};

static PyObject* attach(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  int found;
  Py_BEGIN_ALLOW_THREADS;
  found = landtrace_attach();
  Py_END_ALLOW_THREADS;
  return PyLong_FromLong(found);
}
static PyMethodDef module_methods[] = {
    {"attach", attach, METH_NOARGS, "Looks for a domain again: how many events found one."}, {NULL, NULL, 0, NULL}};

static int execute(PyObject* module) {
  PyObject* const type = PyType_FromSpec(&event_spec);
  if (!type) return -1;
  return PyModule_AddObjectRef(module, "Event", type);
}
static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void*)execute}, {0, NULL}};
static struct PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, "_landtrace", NULL, 0,   module_methods,
                                               module_slots,          NULL,         NULL, NULL};

PyMODINIT_FUNC PyInit__landtrace(void) { return PyModuleDef_Init(&module_definition); }
