/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlp: splits a transfer into transaction layer packets, and computes the link bytes of each kind
 * of packet. The maximum lengths of packets are powers of two. PCI Express Base Specification 2.2
 * (formats), 2.3.1.1 (completions and the read completion boundary).
 */
#ifndef HCA_HOST_TLP_H
#define HCA_HOST_TLP_H

#include "hca/host/pcie_params.h"

enum { TLP_PAGE_BYTES = 4096 }; /* no request crosses a multiple of this size (2.2.7) */

/* clang-format off */
/*        KIND        parameter with its overhead */
#define TLP_KINDS(X) \
	X(WRITE,      write_overhead) \
	X(REQUEST,    request_overhead) \
	X(COMPLETION, completion_overhead)
/* clang-format on */

#define TLP_ENUM(KIND, parameter) TLP_##KIND,
enum tlp_kind { TLP_KINDS(TLP_ENUM) TLP_KIND_COUNT };

/* Returns the link bytes of `count` packets of a kind with a total of `payload_bytes`. */
static inline uint64_t tlp_bytes(const struct pcie_params *params, enum tlp_kind kind,
				 uint64_t count, uint64_t payload_bytes)
{
	static const size_t place[TLP_KIND_COUNT] = {
#define TLP_PLACE(KIND, parameter) [TLP_##KIND] = offsetof(struct pcie_params, parameter),
		TLP_KINDS(TLP_PLACE)
#undef TLP_PLACE
	};
	const uint64_t *overhead = (const void *)((const char *)params + place[kind]);

	return count * *overhead + payload_bytes;
}

/*
 * Returns the length of the first request or write of a transfer. It ends after `packet_max` bytes,
 * at the end of the page, or at the end of the transfer.
 */
static inline uint32_t tlp_first_length(uint64_t address, uint32_t length, uint64_t packet_max)
{
	uint64_t to_border = TLP_PAGE_BYTES - address % TLP_PAGE_BYTES;
	uint64_t most = packet_max < to_border ? packet_max : to_border;

	return length < most ? length : (uint32_t)most;
}

/* Returns the number of packets of the first length with which a transfer begins, up to the end of
 * the page. */
static inline uint32_t tlp_first_count(uint64_t address, uint32_t length, uint64_t packet_max)
{
	uint32_t page = tlp_first_length(address, length, TLP_PAGE_BYTES);

	return page < packet_max ? 1 : page >> __builtin_ctzll(packet_max);
}

/* Returns `bytes` divided by a power of two, rounded up. */
static inline uint64_t tlp_divide(uint64_t bytes, uint64_t packet_max)
{
	return (bytes + packet_max - 1) >> __builtin_ctzll(packet_max);
}

/* Returns the number of packets that tlp_first_length() splits a transfer into. */
static inline uint64_t tlp_count(uint64_t address, uint32_t length, uint64_t packet_max)
{
	uint32_t page = tlp_first_length(address, length, TLP_PAGE_BYTES);

	return tlp_divide(page, packet_max) + tlp_divide(length - page, packet_max);
}

/* Returns the length of the first `count` of these packets. */
static inline uint32_t tlp_span(uint64_t address, uint32_t length, uint64_t packet_max,
				uint64_t count)
{
	uint32_t page = tlp_first_length(address, length, TLP_PAGE_BYTES);
	uint64_t in_page = tlp_divide(page, packet_max), span = count * packet_max;

	if (count >= in_page)
		span -= in_page * packet_max - page;
	return span < length ? (uint32_t)span : length;
}

/* Returns the number of completions of one request. Completions are split at the RCB. */
static inline uint32_t tlp_completion_count(const struct pcie_params *params, uint64_t address,
					    uint32_t length)
{
	uint64_t most = params->completion_max < params->mps ? params->completion_max : params->mps;

	return (uint32_t)tlp_divide((address & (params->rcb - 1)) + length, most);
}

#endif
