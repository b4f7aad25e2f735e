#pragma once
// RCCL has NCCL's names (RCCL API reference).

#include <nccl.h>
