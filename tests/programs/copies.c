/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies: variants of memmove() for different processors, to be preloaded into a program. COPIES
 * selects the order in which 64 bytes are stored, 16 at a time. `order`: ascending; `sse2`: as the
 * C library without AVX; `down`: descending; `twice`: as with AVX-512, which stores all bytes
 * twice.
 */
#include <emmintrin.h>
#include <stddef.h>
#include <stdlib.h>

void *memmove(void *to, const void *from, size_t bytes);

#define STORES(code)                              \
	__asm__ volatile(code                     \
			 : "=m"(*(char(*)[64])to) \
			 : "r"(to), "x"(part[0]), "x"(part[1]), "x"(part[2]), "x"(part[3]))
#define FIRST  "movdqu %2, (%1)\n"
#define SECOND "movdqu %3, 16(%1)\n"
#define THIRD  "movdqu %4, 32(%1)\n"
#define FOURTH "movdqu %5, 48(%1)\n"

static void store_line(char how, void *to, const __m128i *from)
{
	const __m128i part[4] = {_mm_loadu_si128(from), _mm_loadu_si128(from + 1),
				 _mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3)};

	if (how == 's')
		STORES(FIRST SECOND FOURTH THIRD);
	else if (how == 'd')
		STORES(FOURTH THIRD SECOND FIRST);
	else if (how == 't')
		STORES(FIRST SECOND THIRD FOURTH FIRST SECOND THIRD FOURTH);
	else
		STORES(FIRST SECOND THIRD FOURTH);
}

void *memmove(void *to, const void *from, size_t bytes)
{
	const char *how = bytes == 64 ? getenv("COPIES") : NULL;
	volatile char *target = to;
	const volatile char *source = from;

	if (how) {
		store_line(*how, to, from);
	} else if (target < source) {
		for (size_t i = 0; i < bytes; i++)
			target[i] = source[i];
	} else {
		for (size_t i = bytes; i-- > 0;)
			target[i] = source[i];
	}
	return to;
}
