/*
 * why: where the time of a send work request went: from the CPU's store that posted it to the CQE that the driver
 * sees, as stages that follow each other without gap. Each block notes when its stage ended in the WQE's `struct why`;
 * here the stages are closed, counted and traced when the CQE is visible.
 *
 *     doorbell, wqe_fetch, scheduler, requester, completer --why->at[]--> completion --why_close()--> counters, trace
 *
 * A stage that did not happen, or that a later one has overtaken, lasts no time: the sum is the latency, always.
 */
#ifndef HCA_WORK_WHY_H
#define HCA_WORK_WHY_H

#include "sim/block.h"

/* clang-format off */
/* X(NAME, field, what ends it) */
#define WHY_STAGES(X)                                                                              \
	X(DOORBELL,    doorbell,    "the store came over PCIe and the queue knows")                \
	X(WQE_FETCH,   wqe_fetch,   "the WQE was read, in order, and parsed")                      \
	X(SCHEDULING,  scheduling,  "its turn came; or it came and the context was not there")     \
	X(QPC_MISS,    qpc_miss,    "the requester's context was read")                            \
	X(TURN,        turn,        "its turn came again, behind that miss")                       \
	X(RETRY,       retry,       "the last time that it was to be sent again")                  \
	X(MESSAGE,     message,     "the turn for the last unit of its message")                   \
	X(TRANSLATION, translation, "keys and pages of that unit were known (MPT, MTT)")           \
	X(DMA,         dma,         "its bytes were gathered, in order")                           \
	X(TRANSMIT,    transmit,    "headers and pipeline, and room in the port's queue")          \
	X(CREDITS,     credits,     "the link was free, with credits and no pause")                \
	X(WIRE,        wire,        "its last bit was at the other adapter; unreliable: was out")  \
	X(REMOTE,      remote,      "the other adapter handed its answer to its port")             \
	X(ACK,         ack,         "the answer was here and checked")                             \
	X(DATA,        data,        "data that was asked for is with PCIe")                        \
	X(ORDER,       order,       "the work requests before it were complete")                   \
	X(CQE,         cqe,         "its CQE was visible")

#define WHY_STAGE_ENUM(name, field, end) WHY_##name,
enum why_stage { WHY_STAGES(WHY_STAGE_ENUM) WHY_STAGE_COUNT };

#define WHY_STAGE_COUNTER(name, field, end) uint64_t field;
struct why_counters {
	uint64_t completions;
	uint64_t latency;
	WHY_STAGES(WHY_STAGE_COUNTER)
};
/* clang-format on */

struct why {
	sim_time posted_at;           /* the store left the core */
	sim_time at[WHY_STAGE_COUNT]; /* end of each stage; 0: did not happen */
};

struct why_block;

struct why_block *why_create(struct sim *sim, const char *name);
void why_destroy(struct why_block *block);

/* Durations in ps of a WQE whose CQE is visible now; their sum is the return value, the latency. */
sim_time why_durations(const struct why *why, sim_time now, sim_time durations[WHY_STAGE_COUNT]);

void why_close(struct why_block *block, const struct why *why, uint32_t tag, uint32_t qpn);

const struct why_counters *why_counters(const struct why_block *block);

#endif
