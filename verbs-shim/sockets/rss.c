/* SPDX-License-Identifier: Apache-2.0 */
/* rss: see rss.h. */
#include "verbs-shim/sockets/rss.h"

#include <ctype.h>
#include <string.h>

static unsigned digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(tolower(c) - 'a' + 10);
}

bool rss_read_key(const char *text, uint8_t key[RSS_KEY_BYTES])
{
	if (strlen(text) != 2 * RSS_KEY_BYTES)
		return false;
	for (unsigned i = 0; i < RSS_KEY_BYTES; i++) {
		if (!isxdigit((unsigned char)text[2 * i]) ||
		    !isxdigit((unsigned char)text[2 * i + 1]))
			return false;
		key[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
	}
	return true;
}

/* Each bit of the input that is 1 adds the 32 bits of the key at its place. */
static uint32_t toeplitz(const uint8_t key[RSS_KEY_BYTES], const uint8_t *input, unsigned bytes)
{
	uint32_t window =
		(uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
	uint32_t hash = 0;

	for (unsigned i = 0; i < 8 * bytes; i++) {
		unsigned next = i + 32;

		if (input[i / 8] >> (7 - i % 8) & 1)
			hash ^= window;
		window = window << 1 | (key[next / 8 % RSS_KEY_BYTES] >> (7 - next % 8) & 1);
	}
	return hash;
}

uint32_t rss_hash(const uint8_t key[RSS_KEY_BYTES], const struct shim_address *source,
		  const struct shim_address *destination)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool four = memcmp(source->ip, mapped, sizeof(mapped)) == 0;
	unsigned from = four ? sizeof(mapped) : 0, length = 16 - from;
	uint8_t input[36];
	unsigned at = 2 * length;

	memcpy(input, source->ip + from, length);
	memcpy(input + length, destination->ip + from, length);
	input[at++] = (uint8_t)(source->port >> 8);
	input[at++] = (uint8_t)source->port;
	input[at++] = (uint8_t)(destination->port >> 8);
	input[at++] = (uint8_t)destination->port;
	return toeplitz(key, input, at);
}
