/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocate: malloc(), calloc(), realloc() and strdup() of the command and the library. The linker
 * substitutes these functions (--wrap, see CMakeLists.txt). The process ends with a message if
 * memory is exhausted. Callers need not check for NULL.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/memory.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t bytes);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	void *memory = __real_malloc(bytes);

	if (!memory && bytes)
		memory_exhausted();
	return memory;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	void *memory = __real_calloc(count, bytes);

	if (!memory && count && bytes)
		memory_exhausted();
	return memory;
}

void *__wrap_realloc(void *old, size_t bytes)
{
	void *memory = __real_realloc(old, bytes);

	if (!memory && bytes)
		memory_exhausted();
	return memory;
}

char *__wrap_strdup(const char *text)
{
	char *copy = __real_strdup(text);

	if (!copy)
		memory_exhausted();
	return copy;
}

char *__wrap_strndup(const char *text, size_t bytes)
{
	char *copy = __real_strndup(text, bytes);

	if (!copy)
		memory_exhausted();
	return copy;
}
