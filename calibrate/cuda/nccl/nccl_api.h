#pragma once

// Collectives: NCCL, or RCCL, which has its names.
#ifndef __HIP_PLATFORM_AMD__
#include <nccl.h>
#else
#include <rccl/rccl.h>
#endif
