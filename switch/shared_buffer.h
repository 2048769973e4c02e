/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_buffer: the packet memory of an Ethernet switch. It counts each packet twice. The (port,
 * priority) of its arrival determines pauses. The (port, priority) of its departure determines
 * drops in lossy priorities.
 *
 *     size = reserved for each (port, priority) + headroom of lossless ones + what all share
 *     threshold = alpha * (shared part that is free): Choudhury, Hahne, dynamic threshold, ToN 1998
 *
 * A lossless packet beyond its reserve and the threshold takes headroom, and its sender is paused.
 * A lossy packet beyond both is dropped. When a packet departs, the switch reports the time at
 * which its memory is free. Such releases wait in a ring ordered by time, and are processed when
 * the buffer is read. Only a paused sender needs an event for them.
 */
#ifndef SWITCH_SHARED_BUFFER_H
#define SWITCH_SHARED_BUFFER_H

#include "hcasim/switch_plugins.h"
#include "switch/shared_buffer_params.h"

#define BUFFER_VLS 8u

/* clang-format off */
#define BUFFER_VERDICTS(X)                                                                 \
	X(ADMITTED, "The packet is admitted.")                                             \
	X(NO_HEADROOM, "The packet is lossless and its headroom is full.")                 \
	X(EGRESS_FULL, "The packet is lossy and its egress queue is above the threshold.") \
	X(POOL_FULL, "The packet is lossy and no shared memory is left.")

#define BUFFER_VERDICT_ENUM(name, meaning) BUFFER_##name,
enum buffer_verdict { BUFFER_VERDICTS(BUFFER_VERDICT_ENUM) BUFFER_VERDICT_COUNT };
/* clang-format on */

/* Returns the index of a (port, priority). */
static inline uint16_t buffer_class(unsigned port, unsigned vl)
{
	return (uint16_t)(port * BUFFER_VLS + vl);
}

/* Pauses or resumes the sender of a (port, priority), by port_pause(). */
typedef void buffer_pause_function(void *context, unsigned port, unsigned vl, bool stop);

/* Replaces the dynamic threshold. `limit` returns the bytes that a queue may use. The other two
 * report packets by their output. */
struct buffer_policy {
	uint64_t (*limit)(void *context, const struct buffer_queue *queue);
	void (*admit)(void *context, unsigned output, unsigned vl, uint32_t bytes);
	void (*release)(void *context, unsigned output, unsigned vl, uint32_t bytes);
	void *context;
};

struct shared_buffer;

/* Creates a buffer for the switch's block. `params` is copied. set_pause() is called with the
 * context to pause or resume a sender. */
struct shared_buffer *shared_buffer_create(struct block *owner,
					   const struct shared_buffer_params *params,
					   unsigned ports, buffer_pause_function *set_pause,
					   void *context);
void shared_buffer_destroy(struct shared_buffer *buffer);

/* Sets the policy, which outlives the buffer. Call it before the first packet. */
void shared_buffer_set_policy(struct shared_buffer *buffer, const struct buffer_policy *policy);

/* Adds a port with a number of VLs. headroom_bytes is the headroom of each priority by the
 * parameters of the port or of the link. */
void shared_buffer_add_port(struct shared_buffer *buffer, unsigned port, unsigned vls,
			    uint64_t rate_bps, uint64_t headroom_bytes);

/* Starts the buffer, after all ports and before the first packet. Returns false, and *error, if
 * `size` is less than reserves and headroom. */
bool shared_buffer_start(struct shared_buffer *buffer, char *error, size_t error_bytes);
bool shared_buffer_started(const struct shared_buffer *buffer);

/* Admits or drops an arriving packet. An admitted packet has its memory until
 * shared_buffer_release_at(). */
enum buffer_verdict shared_buffer_admit(struct shared_buffer *buffer, uint16_t ingress,
					uint16_t egress, uint32_t bytes);
void shared_buffer_release_at(struct shared_buffer *buffer, uint16_t ingress, uint16_t egress,
			      uint32_t bytes, sim_time at);

/* Admit a multicast packet, by its input, and each of its copies, by its queue. A copy takes no
 * memory, but a lossy copy is dropped if its queue exceeds the threshold. */
enum buffer_verdict shared_buffer_admit_packet(struct shared_buffer *buffer, uint16_t ingress,
					       uint32_t bytes);
enum buffer_verdict shared_buffer_admit_copy(struct shared_buffer *buffer, uint16_t ingress,
					     uint16_t egress, uint32_t bytes);
void shared_buffer_release_packet_at(struct shared_buffer *buffer, uint16_t ingress, uint32_t bytes,
				     sim_time at);
void shared_buffer_release_copy_at(struct shared_buffer *buffer, uint16_t egress, uint32_t bytes,
				   sim_time at);

/* Return current values in bytes. The functions with _max return the maximum so far. */
uint64_t shared_buffer_used(struct shared_buffer *buffer); /* bytes in use */
uint64_t shared_buffer_shared_size(const struct shared_buffer *buffer);
uint64_t shared_buffer_shared_used(struct shared_buffer *buffer);
uint64_t shared_buffer_ingress_used(struct shared_buffer *buffer, uint16_t ingress);
uint64_t shared_buffer_headroom_used(struct shared_buffer *buffer, uint16_t ingress);
uint64_t shared_buffer_headroom_used_max(const struct shared_buffer *buffer, uint16_t ingress);
uint64_t shared_buffer_egress_used(struct shared_buffer *buffer, uint16_t egress);
uint64_t shared_buffer_used_max(const struct shared_buffer *buffer);

/* Carries the bytes in use, by ingress, to another process, where nothing else is then known. */
void shared_buffer_carry(struct shared_buffer *buffer, struct carry *carry);

/* Folds the state after the releases that are due. A buffer with a policy cannot be folded. */
void shared_buffer_fold(struct shared_buffer *buffer, struct fold *fold);

#endif
