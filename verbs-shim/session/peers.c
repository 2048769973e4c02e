/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers: memory that processes of a host share. Stores to it are not observed. When a thread
 * returns the token, the contents that other threads poll are compared, and a thread that would
 * find a change is woken.
 */
#include "verbs-shim/session/state.h"

#define HASH_BASE   UINT64_C(0xcbf29ce484222325)
#define HASH_FACTOR UINT64_C(0x100000001b3)

uint64_t peers_look(const struct thread *thread)
{
	const struct shim_slot *slot = thread->slot;
	struct memory *memory = &thread->process->memory.base;
	uint64_t hash = HASH_BASE;

	for (uint32_t i = 0; i < slot->span_count && i < SHIM_SPANS; i++) {
		const struct shim_span *span = &slot->spans[i];
		uint8_t bytes[256];

		if (!(slot->peers & UINT32_C(1) << i))
			continue;
		for (uint64_t at = 0, length; at < span->length; at += length) {
			length = span->length - at < sizeof(bytes) ? span->length - at
								   : sizeof(bytes);
			if (!memory_read(memory, span->address + at, bytes, (uint32_t)length))
				break;
			for (uint64_t b = 0; b < length; b++)
				hash = (hash ^ bytes[b]) * HASH_FACTOR;
		}
	}
	return hash;
}

static bool is_peer(const struct session *session, const struct thread *thread,
		    const struct thread *other)
{
	return other->state != THREAD_FREE && other->process != thread->process &&
	       other->process->alive && other->process->host == thread->process->host &&
	       session->shared->processes[other->process->number].shares;
}

static bool shares(const struct session *session, const struct thread *thread)
{
	return session->shared->processes[thread->process->number].shares;
}

void peers_acted(struct session *session, const struct thread *thread, sim_time at)
{
	for (uint32_t i = 0; i < session->thread_count && shares(session, thread); i++) {
		struct thread *other = &session->threads[i];

		if (is_peer(session, thread, other) && other->state == THREAD_VISIBLE_WRITE &&
		    other->slot->peers && peers_look(other) != other->peers)
			session_found(other, at + session->cpu.shared);
	}
}

sim_time peers_bound(const struct session *session, const struct thread *thread)
{
	sim_time bound = SIM_NEVER;

	for (uint32_t i = 0; i < session->thread_count && shares(session, thread); i++) {
		const struct thread *other = &session->threads[i];
		bool polls = other->state == THREAD_VISIBLE_WRITE && other->slot->peers;
		sim_time until;

		if (!is_peer(session, thread, other))
			continue;
		until = polls ? thread->clock + session->params.lookahead
			      : order_next_act(session, other) + session->cpu.shared;
		if (until < bound)
			bound = until;
	}
	return bound;
}
