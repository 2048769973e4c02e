/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carry: state as bytes, from one process to another process of the same program and scenario
 * (sim/ranks.h). One function for each kind of object both writes and reads, so that the two sides
 * cannot differ:
 *
 *     CARRY(carry, port->busy_until);      appends the member, or sets it
 *
 * Pointers must not be carried: the other process has the objects at other addresses.
 */
#ifndef SIM_CARRY_H
#define SIM_CARRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct carry { /* all zero: empty, writes */
	unsigned char *bytes;
	size_t count, room;
	size_t place; /* of the next byte to read */
	bool reads;
};

/* Appends the object, or reads it. */
void carry_raw(struct carry *carry, void *object, size_t bytes);

#define CARRY(carry, member) carry_raw(carry, &(member), sizeof(member))

/* Carries words of which many are zero. `count` is at most 64. */
void carry_words(struct carry *carry, uint64_t *words, unsigned count);

/* Empty the carry for bytes to be written, or for `count` bytes to be read. The caller then fills
 * carry->bytes. */
void carry_write(struct carry *carry);
void carry_read(struct carry *carry, size_t count);
void carry_fini(struct carry *carry);

static inline bool carry_ends(const struct carry *carry) /* all bytes are read */
{
	return carry->place == carry->count;
}

#endif
