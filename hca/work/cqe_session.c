/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cqe_session: collects similar CQEs of one queue and writes them as a title and arrays of eight
 * mini-CQEs, instead of 64 bytes each. The CQEs take the same number of slots of the ring. The
 * driver skips the slots in which nothing is written.
 *
 *     slot    0      1            2..7   8            9..15   16
 *             title  minis 0..7   -      minis 8..15  -       minis 16..23  ...
 *
 * Arrays are written before the title, so that a driver that sees the title finds them. Format:
 * mlx5_mini_cqe8 and CQE format 3 of the mlx5 family (mlx5_ifc, and the network driver that reads
 * them).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hca/work/completion_state.h"
#include "hca/work/dma.h"

/* Returns true if mini-CQEs can represent the completion. */
static bool is_plain(const struct completion_queue *cq, const struct completion *completion)
{
	return completion->status == WORK_OK && !completion->solicited && !completion->data_bytes &&
	       (completion->opcode == CQE_SENT || completion->opcode == CQE_RECEIVED_SEND) &&
	       (!completion->multi_packet || cq->attr.compress == CQ_MINI_STRIDE);
}

/* Returns true if the title's fields are valid for both completions. WQE counters of receives must
 * be consecutive. */
static bool follows(const struct completion *last, const struct completion *next)
{
	bool counted = next->opcode == CQE_SENT || next->multi_packet ||
		       next->wqe_counter == (uint16_t)(last->wqe_counter + 1);

	return counted && next->opcode == last->opcode && next->qpn == last->qpn &&
	       next->user_index == last->user_index && next->multi_packet == last->multi_packet &&
	       next->wqe_id == last->wqe_id && next->immediate == last->immediate &&
	       next->source_qp == last->source_qp && next->slid == last->slid &&
	       next->service_level == last->service_level && next->path_bits == last->path_bits &&
	       next->network_header == last->network_header;
}

bool cqe_session_join(struct cqe_session *session, struct cqe_write *write)
{
	struct completion_queue *cq = session->cq;
	struct completion_writer *writer = cq->writer;

	if (session->count && !(is_plain(cq, &write->completion) &&
				follows(&session->list.last->completion, &write->completion)))
		cqe_session_end(session);
	if (!is_plain(cq, &write->completion)) {
		dma_write_grant(writer->blocks->dma);
		return false;
	}
	completion_cqe_list_append(&session->list, write);
	write->since = sim_now(writer->block.sim);
	gauge_enter(&writer->gauge.session, write->since, 1);
	if (++session->count == 1)
		sim_schedule(&session->timeout, writer->params->compression_timeout);
	if (session->count == writer->params->compression_max ||
	    session->count == cq->attr.entries || cq->arm != ARM_NOTHING)
		cqe_session_end(session);
	return true;
}

static uint32_t word_of(const struct completion *completion)
{
	if (completion->opcode == CQE_SENT)
		return (uint32_t)completion->wqe_counter << 16 | (uint32_t)completion->wqe_opcode
									 << 8;
	return completion->multi_packet ? completion->wqe_counter : 0;
}

static void array_written(struct pcie_write *pcie)
{
	(void)pcie; /* the title takes the next grant */
}

/* Makes the whole group visible with the title, which is written last. */
static void title_written(struct pcie_write *pcie)
{
	struct cqe_write *next, *write = container_of(pcie, struct cqe_write, write);

	for (; write; write = next) {
		next = write->next;
		completion_visible(write);
	}
}

static void write_slot(struct cqe_write *write, void (*done)(struct pcie_write *pcie))
{
	struct completion_queue *cq = write->cq;
	struct completion_writer *writer = cq->writer;

	write->write = (struct pcie_write){
		.memory = cq->attr.memory,
		.address = cq->attr.buffer + (uint64_t)write->index * CQE_BYTES,
		.length = CQE_BYTES,
		.tag = write->tag,
		.bytes = write->bytes,
		.done = done,
	};
	writer->count.bytes += CQE_BYTES;
	dma_write_grant(writer->blocks->dma);
	pcie_write(writer->blocks->pcie, &write->write);
}

static void write_array(struct cqe_write *write, const uint8_t *minis)
{
	memcpy(write->bytes, minis, CQE_BYTES);
	write->cq->writer->count.arrays++;
	write_slot(write, array_written);
}

static void write_compressed(struct cqe_write *first, uint32_t count)
{
	struct completion_writer *writer = first->cq->writer;
	uint8_t minis[CQE_MINIS_MAX * CQE_MINI_BYTES] = {0};
	unsigned owner = first->number / first->cq->attr.entries & 1;
	uint32_t i = 0;

	for (struct cqe_write *write = first; write; write = write->next, i++)
		cqe_build_mini(word_of(&write->completion), write->completion.byte_count,
			       minis + i * CQE_MINI_BYTES);
	assert(i == count);
	i = 0;
	for (struct cqe_write *write = first; write; write = write->next)
		write->since = sim_now(writer->block.sim);
	for (struct cqe_write *write = first; write; write = write->next, i++)
		if (i == 1 || (i && i % CQE_MINIS == 0))
			write_array(write, minis + i / CQE_MINIS * CQE_BYTES);
	cqe_build_title(&first->completion, count, owner, first->bytes);
	writer->count.cqes += count;
	writer->count.compressed += count;
	writer->count.titles++;
	gauge_enter(&writer->gauge.writes, sim_now(writer->block.sim), count);
	write_slot(first, title_written);
}

static void leave(struct completion_writer *writer, const struct cqe_write *write)
{
	for (; write; write = write->next)
		gauge_left(&writer->gauge.session, write->since, sim_now(writer->block.sim), 1);
}

void cqe_session_end(struct cqe_session *session)
{
	struct completion_writer *writer = session->cq->writer;
	struct cqe_write *first = session->list.first;
	uint32_t count = session->count;

	sim_cancel(&session->timeout);
	session->list = (struct cqe_list){0};
	session->count = 0;
	leave(writer, first);
	if (count > 1) {
		write_compressed(first, count);
	} else {
		dma_write_grant(writer->blocks->dma);
		completion_put(first);
	}
}

void cqe_session_lose(struct cqe_session *session)
{
	struct completion_writer *writer = session->cq->writer;
	struct cqe_write *next, *write = session->list.first;

	sim_cancel(&session->timeout);
	leave(writer, write);
	session->list = (struct cqe_list){0};
	session->count = 0;
	for (; write; write = next) {
		next = write->next;
		completion_lose(write);
	}
}

static void timeout(struct event *event)
{
	cqe_session_end(container_of(event, struct cqe_session, timeout));
}

struct cqe_session *cqe_session_create(struct completion_queue *cq)
{
	struct cqe_session *session = calloc(1, sizeof(*session));

	assert(session);
	session->cq = cq;
	event_init(&session->timeout, &cq->writer->block, timeout);
	return session;
}
