// Linked before a test's own code, which is not optimised: of the functions of the JSON library,
// which each of its sources has, the first is taken for all, libraries under test included.
#include <nlohmann/json.hpp>

template class nlohmann::basic_json<>;
