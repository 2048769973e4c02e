/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_set: a set of ports of one switch, such as the next hops towards a host, or the outputs of a
 * multicast group.
 */
#ifndef FABRIC_PORT_SET_H
#define FABRIC_PORT_SET_H

#include <stdbool.h>
#include <stdint.h>

/* The largest switch. Real ones have 32 to 128 ports, 256 when they are split. */
#define PORT_SET_PORTS 256
#define PORT_SET_WORDS (PORT_SET_PORTS / 64)

struct port_set {
	uint64_t words[PORT_SET_WORDS];
};

static inline void port_set_add(struct port_set *set, unsigned port)
{
	set->words[port / 64] |= UINT64_C(1) << port % 64;
}

static inline void port_set_remove(struct port_set *set, unsigned port)
{
	set->words[port / 64] &= ~(UINT64_C(1) << port % 64);
}

static inline bool port_set_has(const struct port_set *set, unsigned port)
{
	return set->words[port / 64] >> port % 64 & 1;
}

static inline unsigned port_set_count(const struct port_set *set)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PORT_SET_WORDS; i++)
		count += (unsigned)__builtin_popcountll(set->words[i]);
	return count;
}

static inline bool port_set_equal(const struct port_set *one, const struct port_set *other)
{
	uint64_t differ = 0;

	for (unsigned i = 0; i < PORT_SET_WORDS; i++)
		differ |= one->words[i] ^ other->words[i];
	return !differ;
}

/* Returns the first port of the set that is at least `from`, or PORT_SET_PORTS if there is none. */
static inline unsigned port_set_next(const struct port_set *set, unsigned from)
{
	for (unsigned i = from / 64; i < PORT_SET_WORDS; i++, from = 0) {
		uint64_t rest = set->words[i] & UINT64_MAX << from % 64;

		if (rest)
			return i * 64 + (unsigned)__builtin_ctzll(rest);
	}
	return PORT_SET_PORTS;
}

#define PORT_SET_EACH(port, set)                                             \
	for (unsigned port = port_set_next(set, 0); (port) < PORT_SET_PORTS; \
	     port = port_set_next(set, (port) + 1))

#endif
