/* SPDX-License-Identifier: Apache-2.0 */
/* memory_new: the same for what C++ asks for. See memory.h. */
#include <new>

#include "sim/memory.h"

void memory_guard_new(void)
{
	std::set_new_handler(memory_exhausted);
}
