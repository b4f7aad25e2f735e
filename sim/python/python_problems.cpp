#include "sim/python/python_problems.h"

#include <pybind11/pybind11.h>

#include <exception>
#include <new>
#include <string>

#include "sim/network/routing/routing.h"

namespace headway {
namespace {

namespace py = pybind11;

/// Text of the input may be any bytes.
py::str text_of(const std::string& bytes) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

py::dict place_of(const SourceLocation& location, const std::string& pointer) {
  py::dict place;
  place["file"] = text_of(location.file);
  place["line"] = location.line;
  place["column"] = location.column;
  place["pointer"] = text_of(pointer);
  return place;
}

py::dict dict_of(const Diagnostic& diagnostic) {
  py::dict dict = place_of(diagnostic.location, diagnostic.pointer);
  dict["severity"] = diagnostic.severity == Severity::error ? "error" : "warning";
  dict["message"] = text_of(diagnostic.message);
  dict["label"] = text_of(diagnostic.label);
  dict["help"] = text_of(diagnostic.help);
  py::list related;
  for (const Diagnostic::Related& other : diagnostic.related) {
    py::dict place = place_of(other.location, other.pointer);
    place["message"] = text_of(other.message);
    related.append(std::move(place));
  }
  dict["related"] = std::move(related);
  return dict;
}

void raise(const char* type, const py::tuple& arguments) {
  const py::object problem = py::module_::import("headway.errors").attr(type);
  PyErr_SetObject(problem.ptr(), problem(*arguments).ptr());
}

void raise_input_error(const InputError& error) {
  py::list diagnostics;
  for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics.append(dict_of(diagnostic));
  raise("InputError",
        py::make_tuple(text_of(rendered(error.diagnostics(), "nothing was done")), diagnostics));
}

void raise_text(const char* type, const std::string& text) {
  raise(type, py::make_tuple(text_of(text)));
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(std::move(thrown));
  } catch (const InputError& error) {
    raise_input_error(error);
  } catch (const UnreachableError& error) {
    raise_input_error(as_input_error(error));
  } catch (const EnvironmentError& error) {
    raise_text("MachineError", error.what());
  } catch (const InternalError& error) {
    raise_text("InternalError", error.what());
  }
}

}  // namespace

void register_problems() { py::register_local_exception_translator(translate); }

void warn_of(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::warning) continue;
    const std::string text = rendered(diagnostic);
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 2) != 0) throw py::error_already_set();
  }
}

}  // namespace headway
