/* SPDX-License-Identifier: Apache-2.0 */
/* completion: see completion.h. */
#include "hca/work/completion_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/work/completion_module.h"
#include "hca/work/dma.h"
#include "sim/audit.h"

#define ROW(...)    PARAM_ROW(struct completion_params, __VA_ARGS__)
#define SLAB_WRITES 64

/* clang-format off */
const struct param completion_param_list[] = {COMPLETION_PARAMS(ROW) {0}};
enum { COMPLETION_TRACE(TRACE_ENUM) };

static void check(struct block *block, FILE *out);
static void audit(struct block *block, FILE *out);

static const struct block_type completion_type = {
	.name         = "completion",
	.params       = completion_param_list,
	.counters     = (const struct counter[]){COMPLETION_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){COMPLETION_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){COMPLETION_GAUGES(GAUGE_ENTRY) {0}},
	.check        = check,
	.audit        = audit,
};
/* clang-format on */

void completion_cqe_list_append(struct cqe_list *list, struct cqe_write *write)
{
	write->next = NULL;
	if (list->last)
		list->last->next = write;
	else
		list->first = write;
	list->last = write;
}

static struct cqe_write *pop(struct cqe_list *list)
{
	struct cqe_write *write = list->first;

	list->first = write->next;
	if (!list->first)
		list->last = NULL;
	return write;
}

static struct cqe_write *pop_waiting(struct completion_queue *cq)
{
	gauge_left(&cq->writer->gauge.held, cq->waiting.first->since,
		   sim_now(cq->writer->block.sim), 1);
	return pop(&cq->waiting);
}

static struct cqe_write *start(struct completion_queue *cq, const struct completion *completion,
			       uint32_t tag)
{
	struct completion_writer *writer = cq->writer;
	struct cqe_write *write = pool_take_zeroed(&writer->writes);

	writer->count.asked++;
	write->since = sim_now(writer->block.sim);
	gauge_enter(&writer->gauge.pipeline, write->since, 1);
	write->cq = cq;
	write->completion = *completion;
	if (completion->data)
		memcpy(write->data, completion->data, completion->data_bytes);
	write->tag = tag;
	write->sequence = cq->pushed++;
	completion_queue_hold(cq);
	return write;
}

static void push(struct cqe_write *write)
{
	struct completion_writer *writer = write->cq->writer;

	write->entry = (struct cqe_entry){
		.cqn = write->cq->number,
		.qpn = write->completion.qpn,
		.failed = write->completion.status != WORK_OK,
	};
	module_host_enter(&writer->host);
	writer->pipeline->push(writer->host.module, &write->entry, write->since);
	module_host_leave(&writer->host);
}

void completion_write(struct completion_queue *cq, const struct completion *completion,
		      uint32_t tag)
{
	push(start(cq, completion, tag));
}

void completion_write_stages(struct completion_queue *cq, const struct completion *completion,
			     uint32_t tag, const struct latency_stages *stages)
{
	struct cqe_write *write = start(cq, completion, tag);

	write->has_stages = true;
	write->stages = *stages;
	push(write);
}

void completion_write_received(struct completion_queue *cq, const struct completion *completion,
			       uint32_t tag, const struct receive_stages *stages)
{
	struct cqe_write *write = start(cq, completion, tag);

	write->has_receive_stages = true;
	write->receive_stages = *stages;
	push(write);
}

static void finish(struct cqe_write *write)
{
	struct completion_queue *cq = write->cq;

	pool_give(&cq->writer->writes, write);
	completion_queue_drop(cq);
}

static bool causes_event(const struct completion_queue *cq)
{
	return cq->arm == ARM_NEXT || (cq->arm == ARM_SOLICITED && cq->solicited == cq->visible);
}

static void event_due(struct moderation *moderation)
{
	struct completion_queue *cq = container_of(moderation, struct completion_queue, moderation);

	cq->arm = ARM_NOTHING;
	cq->noted = cq->visible;
	cq->writer->count.events++;
}

void completion_visible(struct cqe_write *write)
{
	struct completion_queue *cq = write->cq;
	struct completion_writer *writer = cq->writer;

	gauge_left(&writer->gauge.writes, write->since, sim_now(writer->block.sim), 1);
	trace(&writer->block, TRACE_CQE, write->tag, cq->number, write->index);
	if (write->has_stages)
		latency_stages_close(writer->blocks->latency, &write->stages, write->tag,
				     write->completion.qpn);
	if (write->has_receive_stages)
		latency_stages_close_received(writer->blocks->latency, &write->receive_stages,
					      write->tag, write->completion.qpn);
	audit_order_expect(&writer->order, sim_now(writer->block.sim), cq->number,
			   (int32_t)(write->number - cq->visible) < 0 ? cq->visible : write->number,
			   write->number);
	cq->visible = write->number + 1;
	if (write->completion.solicited || write->completion.status != WORK_OK)
		cq->solicited = cq->visible;
	if (!cq->closed && write->completion.opcode != CQE_RESIZE && causes_event(cq))
		event_queue_moderation_note(&cq->moderation);
	finish(write);
}

static void written(struct pcie_write *pcie)
{
	completion_visible(container_of(pcie, struct cqe_write, write));
}

void completion_put(struct cqe_write *write)
{
	struct completion_queue *cq = write->cq;
	struct completion_writer *writer = cq->writer;
	uint32_t bytes = cq->attr.cqe_bytes;
	unsigned owner = write->number / cq->attr.entries & 1;

	cqe_build(&write->completion, owner, write->data, bytes, write->bytes);
	write->write = (struct pcie_write){
		.memory = cq->attr.memory,
		.address = cq->attr.buffer + (uint64_t)write->index * bytes,
		.length = bytes,
		.tag = write->tag,
		.bytes = write->bytes,
		.done = written,
	};
	writer->count.cqes++;
	writer->count.bytes += bytes;
	writer->count.with_data += write->completion.data_bytes != 0;
	write->since = sim_now(writer->block.sim);
	gauge_enter(&writer->gauge.writes, write->since, 1);
	if (write->completion.status != WORK_OK)
		writer->count.errors++;
	pcie_write(writer->blocks->pcie, &write->write);
}

static void put(struct completion_queue *cq, struct cqe_write *write)
{
	write->number = cq->producer++;
	write->index = write->number & (cq->attr.entries - 1);
	write->completion.timestamp = core_clock_cycles(cq->writer->blocks->clock);
	if (!cq->session || !cqe_session_join(cq->session, write))
		completion_put(write);
}

static bool is_full(const struct completion_queue *cq)
{
	return !cq->attr.ignore_overrun &&
	       ((cq->producer - cq->consumer) & MASK_24) >= cq->attr.entries;
}

/* Returns true if the record should be read now, so that a CQE seldom waits for it. */
static bool is_half_full(const struct completion_queue *cq)
{
	return !cq->attr.ignore_overrun &&
	       2 * ((cq->producer - cq->consumer) & MASK_24) >= cq->attr.entries;
}

void completion_lose(struct cqe_write *write)
{
	struct completion_queue *cq = write->cq;

	cq->writer->count.lost++;
	if (cq->overrun && !cq->closed)
		cq->writer->blocks->user->lost(cq->writer->blocks->user, cq, write->completion.qpn);
	finish(write);
}

static void read_record(struct completion_queue *cq);

static void record_done(struct pcie_read *read)
{
	struct completion_queue *cq = container_of(read, struct completion_queue, record_read);
	struct completion_writer *writer = cq->writer;

	cq->record_busy = false;
	if (!read->failed)
		cq->consumer = be32_get(cq->record) & MASK_24;
	if (cq->context_busy) { /* goes on when that is here */
		completion_queue_drop(cq);
		return;
	}
	while (cq->waiting.first && !is_full(cq) && !cq->overrun)
		put(cq, pop_waiting(cq));
	if (cq->waiting.first && cq->record_early && !cq->overrun && !read->failed) {
		read_record(cq); /* entries may have become free since */
		completion_queue_drop(cq);
		return;
	}
	if (cq->waiting.first && !cq->overrun) {
		cq->overrun = true;
		writer->count.overruns++;
		if (!cq->closed)
			event_queue_async(writer->blocks->events, ASYNC_CQ_ERROR, cq->number);
	}
	while (cq->waiting.first)
		completion_lose(pop_waiting(cq));
	completion_queue_drop(cq);
}

static void read_record(struct completion_queue *cq)
{
	cq->record_busy = true;
	cq->record_early = !cq->waiting.first;
	cq->record_read = (struct pcie_read){
		.memory = cq->attr.memory,
		.address = cq->attr.doorbell_record,
		.length = sizeof(cq->record),
		.bytes = cq->record,
		.done = record_done,
	};
	completion_queue_hold(cq);
	cq->writer->count.record_reads++;
	pcie_read(cq->writer->blocks->pcie, &cq->record_read);
}

static void context_arrived(struct context_lookup *lookup)
{
	struct completion_queue *cq = container_of(lookup, struct completion_queue, lookup);
	struct completion_writer *writer = cq->writer;

	writer->count.context_wait_time += sim_now(writer->block.sim) - cq->context_asked_at;
	cq->context_busy = false;
	while (cq->waiting.first && (cq->closed || cq->overrun))
		completion_lose(pop_waiting(cq));
	while (cq->waiting.first && !is_full(cq))
		put(cq, pop_waiting(cq));
	if ((cq->waiting.first || is_half_full(cq)) && !cq->record_busy && !cq->closed)
		read_record(cq);
	completion_queue_drop(cq);
}

static bool has_context(struct completion_queue *cq, uint32_t tag)
{
	struct completion_writer *writer = cq->writer;
	struct context_cache *contexts = writer->blocks->contexts;
	sim_time ready;

	if (context_cache_hit(contexts, CONTEXT_CQ, cq->number, false, tag, &ready))
		return true;
	writer->count.context_misses++;
	cq->context_busy = true;
	cq->context_asked_at = sim_now(writer->block.sim);
	cq->lookup = (struct context_lookup){
		.number = cq->number,
		.kind = CONTEXT_CQ,
		.tag = tag,
		.done = context_arrived,
	};
	completion_queue_hold(cq);
	context_cache_lookup(contexts, &cq->lookup);
	return false;
}

/* ---- the pipeline ---- */

static void due(struct event *event)
{
	struct completion_writer *writer = container_of(event, struct completion_writer, due);

	module_host_enter(&writer->host);
	writer->pipeline->due(writer->host.module, sim_now(writer->block.sim));
	module_host_leave(&writer->host);
}

static void service_due_at(struct completion_writer *writer, sim_time at)
{
	if (event_pending(&writer->due))
		module_broke(writer->block.name,
			     "requests due() while a call of due() is outstanding");
	module_host_schedule(&writer->host, &writer->due, &writer->block, due, at);
}

static sim_time service_grant(struct completion_writer *writer, struct cqe_entry *entry)
{
	struct cqe_write *write = container_of(entry, struct cqe_write, entry);

	module_host_must_be_inside(&writer->host);
	if (write->granted)
		module_broke(writer->block.name, "requests a second grant for one CQE");
	write->granted = true;
	write->grant_at = write->cq->session ? sim_now(writer->block.sim)
					     : dma_write_grant(writer->blocks->dma);
	return write->grant_at;
}

static void leave_pipeline(struct completion_writer *writer, const struct cqe_write *write)
{
	sim_time now = sim_now(writer->block.sim);

	module_host_must_be_inside(&writer->host);
	if (write->sequence != write->cq->put++)
		module_broke(writer->block.name, "puts a CQE out of order; expected the oldest CQE "
						 "of its completion queue");
	if (!write->granted || write->grant_at > now)
		module_broke(writer->block.name,
			     "puts a CQE without a grant, or before the time of its grant");
	gauge_left(&writer->gauge.pipeline, write->since, now, 1);
}

static void service_put(struct completion_writer *writer, struct cqe_entry *entry)
{
	struct cqe_write *write = container_of(entry, struct cqe_write, entry);
	struct completion_queue *cq = write->cq;
	sim_time now = sim_now(writer->block.sim);

	leave_pipeline(writer, write);
	if (cq->overrun || cq->closed) {
		completion_lose(write);
	} else if (cq->waiting.first || !has_context(cq, write->tag) || is_full(cq)) {
		completion_cqe_list_append(&cq->waiting, write);
		write->since = now;
		gauge_enter(&writer->gauge.held, now, 1);
		if (!cq->record_busy && !cq->context_busy)
			read_record(cq);
	} else {
		put(cq, write);
		if (is_half_full(cq) && !cq->record_busy)
			read_record(cq);
	}
}

static const struct completion_services services = {
	.due_at = service_due_at,
	.grant = service_grant,
	.put = service_put,
};

static void *create_pipeline(void *argument)
{
	struct completion_writer *writer = argument;

	return writer->pipeline->create(&(const struct completion_setup){
		.name = writer->block.name,
		.params = writer->params,
		.services = &services,
		.writer = writer,
		.gauge = &writer->gauge.writer,
	});
}

/* Arms the queue. A CQE that became visible while the doorbell was in flight counts as new, because
 * the driver has not seen it. */
void completion_arm(struct completion_queue *cq, uint32_t consumer, bool only_solicited)
{
	uint32_t untaken = (cq->visible - consumer) & MASK_24, unnoted = cq->visible - cq->noted;
	uint32_t news = untaken < unnoted ? untaken : unnoted;
	uint32_t behind = only_solicited ? cq->visible - cq->solicited : 0;

	if (cq->arm == ARM_NEXT) /* these CQEs were already reported to moderation */
		news = 0;
	cq->arm = only_solicited ? ARM_SOLICITED : ARM_NEXT;
	for (; news > behind && cq->arm != ARM_NOTHING; news--)
		event_queue_moderation_note(&cq->moderation);
}

uint32_t completion_unread(const struct completion_queue *cq)
{
	uint32_t consumer = cq->consumer;
	uint8_t record[sizeof(cq->record)];

	if (memory_read(cq->attr.memory, cq->attr.doorbell_record, record, sizeof(record)))
		consumer = be32_get(record);
	return (cq->producer - consumer) & MASK_24;
}

void completion_resize(struct completion_queue *cq, uint64_t buffer, uint32_t entries,
		       uint32_t cqe_bytes)
{
	struct cqe_write *write = pool_take_zeroed(&cq->writer->writes);

	write->cq = cq;
	write->completion.opcode = CQE_RESIZE;
	cq->writer->count.resizes++;
	completion_queue_hold(cq);
	put(cq, write);
	cq->attr.buffer = buffer;
	cq->attr.entries = entries;
	cq->attr.cqe_bytes = cqe_bytes;
}

void completion_queue_hold(struct completion_queue *cq)
{
	cq->users++;
}

static void free_queue(struct completion_queue *cq)
{
	*cq->link = cq->next;
	if (cq->next)
		cq->next->link = cq->link;
	free(cq->session);
	free(cq);
}

void completion_queue_drop(struct completion_queue *cq)
{
	assert(cq->users);
	if (--cq->users == 0)
		free_queue(cq);
}

void completion_queue_close(struct completion_queue *cq)
{
	cq->closed = true;
	cq->arm = ARM_NOTHING;
	event_queue_moderation_close(&cq->moderation);
	if (cq->session)
		cqe_session_lose(cq->session);
}

uint32_t completion_queue_data_room(const struct completion_queue *cq)
{
	return cqe_data_room(cq->attr.cqe_bytes);
}

uint32_t completion_queue_users(const struct completion_queue *cq)
{
	return cq->users;
}

void completion_queue_number(struct completion_queue *cq, uint32_t number)
{
	cq->number = cq->moderation.cqn = number;
}

void completion_queue_moderate(struct completion_queue *cq, uint32_t count, sim_time period)
{
	event_queue_moderation_set(&cq->moderation, count, period);
}

struct completion_queue *completion_queue_create(struct completion_writer *writer,
						 const struct hca_cq_attr *attr)
{
	struct completion_queue *cq = calloc(1, sizeof(*cq));

	assert(cq);
	cq->writer = writer;
	cq->attr = *attr;
	cq->users = 1;
	cq->next = writer->queues;
	cq->link = &writer->queues;
	if (cq->next)
		cq->next->link = &cq->next;
	writer->queues = cq;
	if (attr->compress != CQ_PLAIN)
		cq->session = cqe_session_create(cq);
	event_queue_moderation_init(&cq->moderation, writer->blocks->events, event_due);
	return cq;
}

static void check(struct block *block, FILE *out)
{
	const struct completion_writer *writer =
		container_of(block, struct completion_writer, block);
	const struct completion_counters *count = &writer->count;

	block_equal(block, out, "CQEs requested = written + lost + in progress",
		    count->asked + count->resizes,
		    count->cqes + count->lost + writer->gauge.pipeline.level +
			    writer->gauge.held.level + writer->gauge.session.level);
	block_equal(block, out, "CQEs at PCIe, held and in the pipeline = in use",
		    writer->gauge.writes.level + writer->gauge.held.level +
			    writer->gauge.pipeline.level + writer->gauge.session.level,
		    writer->writes.in_use);
}

static void audit(struct block *block, FILE *out)
{
	const struct completion_writer *writer =
		container_of(block, struct completion_writer, block);

	if (writer->host.builtin) /* a module may use other times */
		audit_service(block, out, &writer->gauge.writer, writer->count.asked,
			      writer->params->interval);
	audit_order(block, out, &writer->order, "CQEs of a CQ");
}

struct completion_writer *completion_writer_create(struct sim *sim, const char *name,
						   const struct completion_params *params,
						   const struct completion_blocks *blocks)
{
	struct completion_writer *writer = calloc(1, sizeof(*writer));

	assert(writer);
	writer->blocks = blocks;
	writer->params = params;
	block_init(&writer->block, sim, &completion_type, name, writer->params,
		   (const uint64_t *)&writer->count);
	block_gauges(&writer->block, (struct gauge *)&writer->gauge);
	writer->gauge.writer.capacity = 1;
	pool_init(&writer->writes, sizeof(struct cqe_write), SLAB_WRITES);
	event_init(&writer->due, &writer->block, due);
	writer->pipeline = module_host_table(MODULE_COMPLETION, sizeof(*writer->pipeline), name,
					     &params->module, &completion_pipeline);
	module_host_fill(&writer->host, &writer->block, !*params->module.text, create_pipeline,
			 writer, writer->pipeline->destroy, writer->pipeline->trace);
	return writer;
}

void completion_writer_destroy(struct completion_writer *writer)
{
	sim_cancel(&writer->due);
	module_host_clear(&writer->host);
	/* closed queues that CQEs or reads still use at the end of the run */
	while (writer->queues)
		free_queue(writer->queues);
	pool_fini(&writer->writes);
	block_fini(&writer->block);
	free(writer);
}

const struct completion_counters *completion_counters(const struct completion_writer *writer)
{
	return &writer->count;
}
