/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie: the link between HCA and host. It carries DMA reads (non-posted: tags, round trip,
 * completions), DMA writes (posted, in order) and the CPU's MMIO accesses.
 *
 *     HCA block --pcie_read()--> [tags, MRRS] --request--> root complex --> memory
 *              <------done()---- completions (RCB) <------------'
 *
 * Read requests and writes share the direction to the host, in the order of the calls. Completions
 * and MMIO writes share the direction to the HCA, and MMIO writes pass completions. A read never
 * overtakes an earlier write, so it reads the bytes of that write.
 *
 * Credits are counted by kind: headers and data of writes, and headers of read requests. Completion
 * credits are unlimited at an endpoint (2.6.1). With relaxed ordering, marked TLPs pass earlier
 * writes in the root complex.
 *
 * PCI Express Base Specification, chapters 2 (TLPs, ordering 2.4.1, credits 2.6) and 3 (DLLPs).
 */
#ifndef HCA_HOST_PCIE_H
#define HCA_HOST_PCIE_H

#include "hca/host/memory.h"
#include "sim/gauge.h"

struct host;
struct pcie;
struct pcie_params; /* hca/host/pcie_params.h: the list */

/* clang-format off */
#define PCIE_COUNTERS(X) \
	X(reads, "transactions", "DMA reads requested") \
	X(reads_done, "transactions", "DMA reads completed") \
	X(read_bytes, "bytes", "requested by DMA reads") \
	X(read_requests, "TLPs", "read requests sent; each takes a tag") \
	X(completions, "TLPs", "completions of read requests") \
	X(read_stalls, "transactions", \
	  "DMA reads that waited for a tag, or behind a write that waited") \
	X(tags_used_max, "tags", "maximum number of tags in use") \
	X(writes, "transactions", "DMA writes requested") \
	X(writes_done, "transactions", "DMA writes visible") \
	X(write_bytes, "bytes", "written by DMA writes") \
	X(write_packets, "TLPs", "memory writes sent") \
	X(write_stalls, "transactions", "DMA writes that waited for posted credits") \
	X(mmio_writes, "TLPs", "CPU stores sent to the HCA") \
	X(mmio_bytes, "bytes", "in CPU stores sent to the HCA") \
	X(store_stalls, "times", "a core waited because store_credits were exhausted") \
	X(store_refusals, "TLPs", "CPU stores that the adapter could not accept at their arrival") \
	X(faults, "transactions", "DMA reads and writes of memory that is not mapped") \
	X(mmio_reads, "TLPs", "CPU loads completed") \
	X(posted_headers_taken, "credits", "PH: one per memory write sent") \
	X(posted_headers_returned, "credits", "PH: returned when the write is visible") \
	X(posted_data_taken, "credits", "PD: 16 B each") \
	X(posted_data_returned, "credits", "PD: returned when the write is visible") \
	X(nonposted_headers_taken, "credits", "NPH: one per read request sent") \
	X(nonposted_headers_returned, "credits", \
	  "NPH: returned when the root complex has completed the read request") \
	X(request_credit_stalls, "times", "a read found no NPH credit") \
	X(order_stalls, "TLPs", "at the root complex before an earlier write was visible") \
	X(order_stall_time, "ps", "total time that TLPs waited for earlier writes to be visible") \
	X(dllps_to_host, "DLLPs", "dllp counted: ACKs and credit updates") \
	X(dllps_to_device, "DLLPs", "dllp counted: ACKs and credit updates") \
	X(completion_bytes, "bytes", "of data in completions") \
	X(mmio_read_requests, "TLPs", "CPU loads sent to the HCA") \
	X(mmio_completion_bytes, "bytes", "of completions of CPU loads, on the link") \
	X(to_host_bytes, "bytes", "on the link with TLP overhead: requests and writes") \
	X(to_device_bytes, "bytes", "on the link with TLP overhead: completions and MMIO")

#define PCIE_GAUGES(X) \
	X(to_host, BUSY, "TLPs", "link to the host: writes, requests, completions of loads") \
	X(to_device, BUSY, "TLPs", "link to the HCA: completions, stores") \
	X(tags, POOL, "tags", "tags of read requests in flight") \
	X(nonposted, POOL, "credits", "NPH: read requests that the host has not accepted yet") \
	X(posted, POOL, "credits", \
	  "PD, of 16 B, that the host has not returned; waited for with PH") \
	X(behind_writes, QUEUE, "transactions", \
	  "DMA reads that wait behind waiting writes, or behind such a read") \
	X(stores, POOL, "credits", "CPU stores that the adapter has not accepted yet")

#define PCIE_TRACE(X) \
	X(PCIE_READ, "address", "length", "a DMA read is requested") \
	X(PCIE_READ_STALL, "address", "length", "a DMA read waits for a tag") \
	X(PCIE_COMPLETION, "address", "length", \
	  "the root complex completes a DMA read, or a part of it") \
	X(PCIE_READ_DONE, "address", "length", "the last byte of a DMA read arrives") \
	X(PCIE_WRITE, "address", "length", "a DMA write is requested") \
	X(PCIE_WRITE_STALL, "address", "length", "a DMA write waits for posted credits") \
	X(PCIE_WRITE_DONE, "address", "length", "a DMA write is visible") \
	X(PCIE_MMIO, "offset", "length", "a CPU's store leaves the core") \
	X(PCIE_MMIO_DONE, "offset", "length", "a CPU's store reaches the HCA")
/* clang-format on */

struct pcie_counters {
	PCIE_COUNTERS(COUNTER_FIELD)
};

struct pcie_gauges {
	PCIE_GAUGES(GAUGE_FIELD)
};

/*
 * One DMA read of any length, split into requests of at most MRRS, each with a tag. The bytes are
 * copied when the root complex completes a request. The caller owns the read and must not change it
 * until done().
 */
struct pcie_read {
	struct memory *memory; /* in */
	uint64_t address;      /* in */
	uint32_t length; /* in: bytes; 0 is allowed and completes in a later event, with no TLP */
	uint32_t tag;    /* in: the WQE it is for */
	void *bytes;     /* in: destination; NULL: lengths only */
	void (*done)(struct pcie_read *read); /* in: called once, never from pcie_read() */
	bool relaxed; /* in: may pass writes called earlier, if relaxed_ordering is on */
	/* in: may leave before writes that still wait for credits, if reads_pass is on */
	bool passes;
	bool failed; /* out: the memory was not mapped */
	/* the rest is private to pcie.c */
	union {
		struct event event; /* without bytes */
		/* with bytes: start of the wait behind writes; SIM_NEVER if it does not wait */
		sim_time behind_since;
	};
	struct pcie *pcie;
	struct pcie_read *next;
	uint32_t requested, completed; /* bytes */
	uint64_t writes_before;        /* writes called earlier, which leave first */
};

/*
 * One DMA write of any length, split at MPS. Writes become visible in the order of the calls. The
 * bytes are copied and done() is called when the write is visible.
 */
struct pcie_write {
	struct memory *memory;
	uint64_t address;
	uint32_t length; /* 0 is allowed and completes in a later event, with no TLP */
	uint32_t tag;
	const void *bytes; /* stays the caller's, unchanged, until done(); NULL: lengths only */
	void (*done)(struct pcie_write *write);
	bool relaxed; /* may be visible before writes called before it, if relaxed_ordering is on */
	bool failed;
	/* the rest is private to pcie_write.c */
	uint32_t serial;
	struct event event;
	struct pcie *pcie;
	struct pcie_write *next;
	uint32_t sent, packets, data_credits;
	uint32_t unknown; /* sent packets whose visibility time is unknown */
	sim_time visible_at;
};

/* A transaction that passes no write sent earlier. Used by pcie_host.c. */
struct pcie_order {
	uint64_t behind; /* serial of the last write packet before it */
	sim_time until;  /* time at which that write is visible, or SIM_NEVER while it is unknown */
	void (*known)(struct pcie_order *order); /* called once, unless the time is known at once */
	struct pcie_order *next;
};

/*
 * A CPU's load from the HCA. The load stays behind the CPU's earlier stores. Its completion stays
 * behind the HCA's earlier DMA writes.
 */
struct pcie_mmio_read {
	uint64_t offset;
	uint32_t length; /* at most 64 */
	uint32_t serial; /* private */
	void (*done)(struct pcie_mmio_read *read);
	uint8_t bytes[64]; /* out */
	/* the rest is private to pcie_mmio.c */
	struct event event;
	struct pcie *pcie;
	struct pcie_order order; /* order behind the writes that left before its completion */
	sim_time completed_at;
};

/*
 * Accepts a CPU's store, which arrives in order after the MMIO latency. Returns false if the
 * handler has no space. The store and all later stores then wait until pcie_mmio_resume().
 */
typedef bool pcie_mmio_handler(void *context, uint64_t offset, const void *bytes, uint32_t length);

/* Fills in the bytes of a load's completion, when the load arrives at the HCA. */
typedef void pcie_mmio_read_handler(void *context, uint64_t offset, void *bytes, uint32_t length);

/* Creates a link. Copies `params`. No transaction may be in progress at pcie_destroy(). */
struct pcie *pcie_create(struct sim *sim, const char *name, const struct pcie_params *params);
void pcie_destroy(struct pcie *pcie);

/*
 * Attaches a host behind the root complex (host.h), before the first transaction. Without a host,
 * only the latencies of the parameters apply.
 */
void pcie_host_attach(struct pcie *pcie, struct host *host);

/*
 * Start a read or write, or queue it until tags and credits are free. The caller fills in the
 * fields marked "in" and owns the transaction. It must stay unchanged until done().
 */
void pcie_read(struct pcie *pcie, struct pcie_read *read);
void pcie_write(struct pcie *pcie, struct pcie_write *write);

/* Attaches the handler of stores, before the first store. */
void pcie_mmio_attach(struct pcie *pcie, pcie_mmio_handler *handler, void *context);
/* Returns the minimum time until a store arrives. */
sim_time pcie_mmio_delay(const struct pcie *pcie);

/* Offers a refused store to the handler again, in a later event. */
void pcie_mmio_resume(struct pcie *pcie);

/*
 * Returns the number of stores that have credits. A core waits at 0 and asks again at `*ask_at`.
 * `*ask_at` is SIM_NEVER if the handler has refused the first store.
 */
uint64_t pcie_mmio_room(struct pcie *pcie, sim_time *ask_at);

/*
 * Sends a CPU's store of at most 64 B. The call does not wait for credits. The caller checks
 * pcie_mmio_room() first.
 */
void pcie_mmio_write(struct pcie *pcie, uint64_t offset, const void *bytes, uint32_t length);

/*
 * Attaches the handler of loads, before the first load. The caller owns a load until done() or
 * pcie_mmio_read_cancel().
 */
void pcie_mmio_read_attach(struct pcie *pcie, pcie_mmio_read_handler *handler, void *context);
void pcie_mmio_read(struct pcie *pcie, struct pcie_mmio_read *read);
/*
 * Cancels a load, so that done() is not called. Does nothing if the load is done or was never
 * started (all zero).
 */
void pcie_mmio_read_cancel(struct pcie_mmio_read *read);

const struct pcie_counters *pcie_counters(const struct pcie *pcie);

#endif
