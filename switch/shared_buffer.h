/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_buffer: the packet memory of an Ethernet switch, counted twice: for the (port, priority) a packet came in
 * by, which decides pauses, and for the one it goes out by, which decides drops in lossy priorities.
 *
 *     size = reserved for each (port, priority) + headroom of lossless ones + what all share
 *     threshold = alpha * (shared part that is free)              dynamic threshold: Choudhury, Hahne, ToN 1998
 *
 * A lossless packet that exceeds its reserve and the threshold goes to the headroom, and its sender is paused; a
 * lossy one is dropped. The switch says at a packet's departure when its memory will be free; such releases wait in
 * a ring in the order of time and are counted when somebody looks. They cost an event only for who is paused.
 */
#ifndef SWITCH_SHARED_BUFFER_H
#define SWITCH_SHARED_BUFFER_H

#include "switch/shared_buffer_params.h"

#define BUFFER_VLS 8u

/* clang-format off */
#define BUFFER_VERDICTS(X) \
	X(ADMITTED, "The packet is admitted.") \
	X(NO_HEADROOM, "The packet is lossless and its headroom is full.") \
	X(EGRESS_FULL, "The packet is lossy and its egress queue is above the threshold.") \
	X(POOL_FULL, "The packet is lossy and no shared memory is left.")

#define BUFFER_VERDICT_ENUM(name, meaning) BUFFER_##name,
enum buffer_verdict { BUFFER_VERDICTS(BUFFER_VERDICT_ENUM) BUFFER_VERDICT_COUNT };
/* clang-format on */

/* One (port, priority). */
static inline uint16_t buffer_class(unsigned port, unsigned vl)
{
	return (uint16_t)(port * BUFFER_VLS + vl);
}

/* Stop or let go the sender of a (port, priority): the switch's port_pause(). */
typedef void buffer_pause_function(void *context, unsigned port, unsigned vl, bool stop);

struct shared_buffer;

/* The switch's block is the owner; params are copied; pause() is called with the context when a sender is to stop or may go on. */
struct shared_buffer *shared_buffer_create(struct block *owner,
					   const struct shared_buffer_params *params,
					   unsigned ports, buffer_pause_function *set_pause,
					   void *context);
void shared_buffer_destroy(struct shared_buffer *buffer);

/* A port in use, with so many VLs; headroom_bytes is what its parameters or the link's ask for, a priority. */
void shared_buffer_add_port(struct shared_buffer *buffer, unsigned port, unsigned vls,
			    uint64_t rate_bps, uint64_t headroom_bytes);

/* After all ports, before the first packet. false: size holds less than reserves and headroom; *error says so. */
bool shared_buffer_start(struct shared_buffer *buffer, char *error, size_t error_bytes);
bool shared_buffer_started(const struct shared_buffer *buffer);

/* A packet arrives. ADMITTED: its memory is taken until shared_buffer_release_at(). */
enum buffer_verdict shared_buffer_admit(struct shared_buffer *buffer, uint16_t ingress,
					uint16_t egress, uint32_t bytes);
void shared_buffer_release_at(struct shared_buffer *buffer, uint16_t ingress, uint16_t egress,
			      uint32_t bytes, sim_time at);

/* A packet of multicast: its memory, for which its ingress is asked, and then each queue that it joins: no memory, but a
 * lossy copy may find the queue beyond its threshold. */
enum buffer_verdict shared_buffer_admit_packet(struct shared_buffer *buffer, uint16_t ingress,
					       uint32_t bytes);
enum buffer_verdict shared_buffer_admit_copy(struct shared_buffer *buffer, uint16_t ingress,
					     uint16_t egress, uint32_t bytes);
void shared_buffer_release_packet_at(struct shared_buffer *buffer, uint16_t ingress, uint32_t bytes,
				     sim_time at);
void shared_buffer_release_copy_at(struct shared_buffer *buffer, uint16_t egress, uint32_t bytes,
				   sim_time at);

/* All in bytes, as of now; _max: the most so far. */
uint64_t shared_buffer_used(struct shared_buffer *buffer); /* of the size */
uint64_t shared_buffer_shared_size(const struct shared_buffer *buffer);
uint64_t shared_buffer_shared_used(struct shared_buffer *buffer);
uint64_t shared_buffer_ingress_used(struct shared_buffer *buffer, uint16_t ingress);
uint64_t shared_buffer_headroom_used(struct shared_buffer *buffer, uint16_t ingress);
uint64_t shared_buffer_headroom_used_max(const struct shared_buffer *buffer, uint16_t ingress);
uint64_t shared_buffer_egress_used(struct shared_buffer *buffer, uint16_t egress);
uint64_t shared_buffer_used_max(const struct shared_buffer *buffer);

#endif
