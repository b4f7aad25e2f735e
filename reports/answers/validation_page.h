#pragma once

#include <string>

#include "sim/validate/validation.h"

namespace headway {

/// How far predictions are off, as a page to read and print: what is compared, errors by every
/// property, sources, refusals, what is not modelled, how to make the page again. The HTML form has
/// the figure of all predictions over what was published.
[[nodiscard]] std::string validation_markdown(const Validation& validation);
[[nodiscard]] std::string validation_html(const Validation& validation);

}  // namespace headway
