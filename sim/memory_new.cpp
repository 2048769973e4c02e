/* SPDX-License-Identifier: Apache-2.0 */
/* memory_new: makes operator new of C++ end the program when memory is exhausted (memory.h). */
#include <new>

#include "sim/memory.h"

void memory_guard_new(void)
{
	std::set_new_handler(memory_exhausted);
}
