/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rest: memory of queue pairs with nothing to do. A long run has many queue pairs, most of which
 * are used once. A queue pair at rest is a short string of bytes from which it is restored exactly:
 * the results do not depend on when it rests. A packet or a post wakes it.
 *
 * Only the difference from a new queue pair is stored, and from new congestion control: each word
 * is XORed with the word there. The result is a zero, all ones, a repetition of the last literal,
 * or a literal: a byte that says which bytes are not zero, and these bytes.
 *
 * A queue pair does not rest while it is in a list or a heap. It also does not rest if its
 * congestion control was used and may be used again (endpoint_retire()). Its addresses are not kept
 * elsewhere: users have its slot. Queue pairs rest between two events, a few for each one that
 * wakes. The number of idle queue pairs that are awake is therefore about the number of active
 * ones.
 *
 * The bytes are in cells of one size, and idle memory is kept in lists: with malloc(), the memory
 * that one queue pair frees would not fit the next one.
 */
#include <stdlib.h>
#include <string.h>

#include "hca/endpoint/cc_extension.h"
#include "hca/endpoint/endpoint_state.h"

#define EXAMINED_PER_WAKE 2
#define QP_WORDS          (sizeof(struct endpoint_qp) / 8)
#define CC_BYTES_MAX      (sizeof(struct qp_cc) + CC_STATE_BYTES_MAX + 64)
#define PACKED_MAX(words) ((words)*9 + ((words) + 3) / 4)
#define BYTES_MAX         (1 + PACKED_MAX(QP_WORDS) + PACKED_MAX(CC_BYTES_MAX / 8))
#define CELLS_PER_CHUNK   32u

struct rest_cell {
	uint32_t next; /* number of the next cell, or NO_CELL */
	uint8_t bytes[28];
};
#define NO_CELL UINT32_MAX

enum tag { ZERO, ONES, REPEATED, LITERAL }; /* two bits for each word */

/* ---- words to bytes and back ---- */

static uint8_t *pack_literal(uint64_t word, uint8_t *out)
{
	uint8_t *mask = out++;

	*mask = 0;
	for (unsigned i = 0; i < 8; i++) {
		uint8_t byte = (uint8_t)(word >> 8 * i);

		if (byte) {
			*mask |= (uint8_t)(1u << i);
			*out++ = byte;
		}
	}
	return out;
}

static uint8_t *pack(const uint64_t *words, size_t count, uint8_t *out)
{
	uint8_t *tags = out;
	uint64_t last = 0;

	memset(tags, 0, (count + 3) / 4);
	out += (count + 3) / 4;
	for (size_t i = 0; i < count; i++) {
		enum tag tag = LITERAL;

		if (words[i] == 0)
			tag = ZERO;
		else if (words[i] == UINT64_MAX)
			tag = ONES;
		else if (words[i] == last)
			tag = REPEATED;
		else
			out = pack_literal(last = words[i], out);
		tags[i / 4] |= (uint8_t)(tag << i % 4 * 2);
	}
	return out;
}

static const uint8_t *unpack_literal(const uint8_t *in, uint64_t *word)
{
	uint8_t mask = *in++;

	*word = 0;
	for (unsigned i = 0; i < 8; i++)
		if (mask >> i & 1)
			*word |= (uint64_t)*in++ << 8 * i;
	return in;
}

static const uint8_t *unpack(const uint8_t *in, uint64_t *words, size_t count)
{
	const uint8_t *tags = in;
	uint64_t last = 0;

	in += (count + 3) / 4;
	for (size_t i = 0; i < count; i++) {
		enum tag tag = (enum tag)(tags[i / 4] >> i % 4 * 2 & 3);

		if (tag == LITERAL)
			in = unpack_literal(in, &last);
		words[i] = tag == ZERO ? 0 : tag == ONES ? UINT64_MAX : last;
	}
	return in;
}

/* ---- memory ---- */

static struct rest_cell *cell_at(const struct endpoint_hca *ep, uint32_t number)
{
	return &ep->cells.chunks[number / CELLS_PER_CHUNK][number % CELLS_PER_CHUNK];
}

static uint32_t take_cell(struct endpoint_hca *ep)
{
	struct rest_cells *cells = &ep->cells;
	uint32_t number = cells->idle_end, chunk = cells->count / CELLS_PER_CHUNK;

	if (number) {
		cells->idle_end = cell_at(ep, number - 1)->next;
		return number - 1;
	}
	if (cells->count % CELLS_PER_CHUNK == 0) {
		cells->chunks = realloc(cells->chunks, (chunk + 1) * sizeof(cells->chunks[0]));
		assert(cells->chunks);
		cells->chunks[chunk] = malloc(CELLS_PER_CHUNK * sizeof(struct rest_cell));
		assert(cells->chunks[chunk]);
	}
	return cells->count++;
}

/* Returns the first of the cells that have the bytes. */
static uint32_t store(struct endpoint_hca *ep, const uint8_t *bytes, size_t count)
{
	uint32_t first = take_cell(ep), number = first;

	for (;;) {
		struct rest_cell *cell = cell_at(ep, number);
		size_t part = count < sizeof(cell->bytes) ? count : sizeof(cell->bytes);

		memcpy(cell->bytes, bytes, part);
		bytes += part;
		count -= part;
		if (!count) {
			cell->next = NO_CELL;
			return first;
		}
		number = take_cell(ep);
		cell->next = number;
	}
}

static void load(const struct endpoint_hca *ep, uint32_t number, uint8_t bytes[BYTES_MAX])
{
	for (; number != NO_CELL; number = cell_at(ep, number)->next) {
		memcpy(bytes, cell_at(ep, number)->bytes, sizeof(cell_at(ep, number)->bytes));
		bytes += sizeof(cell_at(ep, number)->bytes);
	}
}

static void give_cells(struct endpoint_hca *ep, uint32_t number)
{
	while (number != NO_CELL) {
		struct rest_cell *cell = cell_at(ep, number);
		uint32_t next = cell->next;

		cell->next = ep->cells.idle_end;
		ep->cells.idle_end = number + 1;
		number = next;
	}
}

struct qp_cc *rest_take_cc(struct endpoint_hca *ep, const struct congestion *congestion)
{
	struct qp_cc *cc = ep->idle_cc;

	if (cc && congestion->ops == ep->congestion->ops) {
		ep->idle_cc = *(struct qp_cc **)(void *)cc;
		return cc;
	}
	cc = aligned_alloc(64, rest_cc_bytes(congestion));
	assert(cc);
	return cc;
}

static void give_cc(struct endpoint_hca *ep, struct qp_cc *cc)
{
	if (cc->congestion->ops != ep->congestion->ops) {
		free(cc);
		return;
	}
	*(struct qp_cc **)(void *)cc = ep->idle_cc;
	ep->idle_cc = cc;
}

/* ---- one queue pair ---- */

size_t rest_cc_bytes(const struct congestion *congestion)
{
	return (sizeof(struct qp_cc) + congestion->ops->state_bytes + 63) / 64 * 64;
}

/* Turns the words of a queue pair into their difference from a new one, and back. */
static void differ(const struct endpoint_hca *ep, uint64_t words[QP_WORDS])
{
	words[offsetof(struct endpoint_qp, deadline) / 8] ^= SIM_NEVER;
	/* an address in the same part of the memory */
	words[offsetof(struct endpoint_qp, path) / 8] ^= (uintptr_t)ep->endpoints;
}

/* Does the same for congestion control. */
static void differ_cc(const struct endpoint_hca *ep, const struct congestion *congestion,
		      uint64_t words[CC_BYTES_MAX / 8])
{
	if (congestion->ops != ep->congestion->ops)
		return;
	assert(ep->new_cc);
	for (size_t i = 0; i < rest_cc_bytes(congestion) / 8; i++)
		words[i] ^= ep->new_cc[i];
}

void rest_learn_cc(struct endpoint_hca *ep, const struct qp_cc *cc)
{
	size_t bytes = rest_cc_bytes(cc->congestion);

	if (ep->new_cc || cc->congestion->ops != ep->congestion->ops)
		return;
	ep->new_cc = malloc(bytes);
	assert(ep->new_cc);
	memcpy(ep->new_cc, cc, bytes);
	ep->new_cc[offsetof(struct qp_cc, congestion) / 8] = 0;
}

/* Returns the bytes of a queue pair, without members that follow from the slot. */
static uint32_t put(const struct endpoint_qp *qp)
{
	uint8_t room[BYTES_MAX], *end;
	struct endpoint_qp kept = *qp;
	uint64_t words[QP_WORDS], cc_words[CC_BYTES_MAX / 8];

	kept.ep = NULL;
	kept.slot = NULL;
	kept.next_ready = NULL; /* outside a list it means nothing */
	kept.cc = NULL;
	memcpy(words, &kept, sizeof(kept));
	differ(qp->ep, words);
	room[0] = qp->cc != NULL;
	end = pack(words, QP_WORDS, room + 1);
	if (qp->cc) {
		size_t cc_bytes = rest_cc_bytes(qp->cc->congestion);

		memcpy(cc_words, qp->cc, cc_bytes);
		cc_words[offsetof(struct qp_cc, congestion) / 8] = 0;
		differ_cc(qp->ep, qp->cc->congestion, cc_words);
		end = pack(cc_words, cc_bytes / 8, end);
	}
	return store(qp->ep, room, (size_t)(end - room));
}

/* Restores a queue pair and its congestion control, if it has one, at `cc`, or in new memory if
 * `cc` is NULL. */
static void restore(struct endpoint_slot *slot, struct endpoint_qp *qp, struct qp_cc *cc)
{
	uint8_t bytes[BYTES_MAX + sizeof(struct rest_cell)]; /* the last cell may be part used */
	const uint8_t *end;
	uint64_t words[QP_WORDS], cc_words[CC_BYTES_MAX / 8];
	const struct congestion *congestion;
	size_t cc_bytes;

	load(slot_ep(slot), slot_cell(slot), bytes);
	end = unpack(bytes + 1, words, QP_WORDS);
	differ(slot_ep(slot), words);
	memcpy(qp, words, sizeof(*qp));
	qp->ep = slot_ep(slot);
	qp->slot = slot;
	if (!bytes[0])
		return;
	congestion = connect_congestion(qp);
	cc_bytes = rest_cc_bytes(congestion);
	qp->cc = cc ? cc : rest_take_cc(slot_ep(slot), congestion);
	unpack(end, cc_words, cc_bytes / 8);
	differ_cc(slot_ep(slot), congestion, cc_words);
	memcpy(qp->cc, cc_words, cc_bytes);
	qp->cc->congestion = congestion;
}

static bool may_rest(const struct endpoint_slot *slot)
{
	const struct endpoint_qp *qp = slot_qp(slot);

	return !qp->sending && !qp->newest && !qp->responses && !qp->selective &&
	       !(qp->flags & QP_READY) && qp->place[DEADLINE_DEPARTURE] == NOT_IN_HEAP &&
	       qp->place[DEADLINE_RESPONSE] == NOT_IN_HEAP &&
	       (!qp->cc || (slot->where & SLOT_RETIRED && !qp->cc->extension));
}

static void put_to_rest(struct endpoint_slot *slot)
{
	struct endpoint_qp *qp = slot_qp(slot);
	uint32_t cell = put(qp);

	slot->where =
		(uintptr_t)cell << SLOT_FLAG_BITS | SLOT_AT_REST | (slot->where & SLOT_RETIRED);
	if (qp->cc)
		give_cc(slot_ep(slot), qp->cc);
	qp->next_ready = slot_ep(slot)->idle_qps;
	slot_ep(slot)->idle_qps = qp;
}

/* ---- the queue pairs of an HCA ---- */

struct endpoint_qp *rest_take_qp(struct endpoint_hca *ep)
{
	struct endpoint_qp *qp = ep->idle_qps;

	if (!qp)
		return sim_arena(ep->block.sim, sizeof(*qp));
	ep->idle_qps = qp->next_ready;
	return memset(qp, 0, sizeof(*qp));
}

static void add_awake(struct endpoint_slot *slot)
{
	struct rest_list *awake = &slot_ep(slot)->awake;

	if (awake->count == awake->capacity) {
		awake->capacity = awake->capacity ? awake->capacity * 2 : 8;
		awake->slots = realloc(awake->slots, awake->capacity * sizeof(awake->slots[0]));
		assert(awake->slots);
	}
	awake->slots[awake->count++] = slot;
}

struct endpoint_qp *rest_wake(struct endpoint_slot *slot)
{
	struct endpoint_hca *ep = slot_ep(slot);
	struct endpoint_qp *qp = rest_take_qp(ep);

	restore(slot, qp, NULL);
	give_cells(ep, slot_cell(slot));
	slot->where = (uintptr_t)qp | (slot->where & SLOT_RETIRED);
	add_awake(slot);
	ep->awake.to_examine += EXAMINED_PER_WAKE;
	return qp;
}

void rest_some(struct endpoint_hca *ep)
{
	struct rest_list *awake = &ep->awake;

	for (; awake->to_examine && awake->count; awake->to_examine--) {
		if (awake->next >= awake->count)
			awake->next = 0;
		if (may_rest(awake->slots[awake->next])) {
			put_to_rest(awake->slots[awake->next]);
			awake->slots[awake->next] = awake->slots[--awake->count];
		} else {
			awake->next++;
		}
	}
	awake->to_examine = 0;
}

static bool has_plugin(const struct endpoint_slot *slot)
{
	return slot && connect_congestion(slot_qp(slot))->guarded;
}

/* Queue pairs of TCP, of flows, and with a plug-in at either end have addresses elsewhere. */
void endpoint_let_rest(struct endpoint_slot *slot)
{
	struct endpoint_slot *ends[] = {slot, slot_peer(slot)};

	if (slot_ep(slot)->flows || slot_qp(slot)->is_tcp || has_plugin(slot) ||
	    has_plugin(slot_peer(slot)))
		return;
	for (unsigned i = 0; i < 2 && ends[i]; i++)
		put_to_rest(ends[i]);
}

void endpoint_retire(struct endpoint_slot *slot)
{
	slot->where |= SLOT_RETIRED;
}

struct endpoint_qp *endpoint_at(struct endpoint_slot *slot)
{
	return slot->where & SLOT_AT_REST ? rest_wake(slot) : slot_qp(slot);
}

struct endpoint_qp *endpoint_look(struct endpoint_slot *slot)
{
	struct endpoint_hca *ep = slot_ep(slot);
	size_t cc_at = sizeof(struct endpoint_qp);

	if (!(slot->where & SLOT_AT_REST))
		return slot_qp(slot);
	if (!ep->looked_at)
		ep->looked_at = aligned_alloc(64, cc_at + (CC_BYTES_MAX + 63) / 64 * 64);
	assert(ep->looked_at);
	restore(slot, ep->looked_at, (struct qp_cc *)(void *)((char *)ep->looked_at + cc_at));
	return ep->looked_at;
}

struct endpoint_slot *endpoint_slot(const struct endpoint_qp *qp)
{
	return qp->slot;
}

struct endpoint_slot *endpoint_slot_peer(const struct endpoint_slot *slot)
{
	return slot_peer(slot);
}

void rest_destroy(struct endpoint_hca *ep)
{
	while (ep->idle_cc) {
		struct qp_cc *cc = ep->idle_cc;

		ep->idle_cc = *(struct qp_cc **)(void *)cc;
		free(cc);
	}
	for (uint32_t i = 0; i < ep->cells.count; i += CELLS_PER_CHUNK)
		free(ep->cells.chunks[i / CELLS_PER_CHUNK]);
	free(ep->cells.chunks);
	free(ep->awake.slots);
	free(ep->looked_at);
	free(ep->new_cc);
}
