/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rss: choice of a receive queue by the hash of Toeplitz over the addresses and ports of a frame.
 * Source: Microsoft, "RSS hashing types" and "Verifying the RSS hash calculation".
 */
#ifndef VERBS_SHIM_SOCKETS_RSS_H
#define VERBS_SHIM_SOCKETS_RSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs-shim/socket_record.h"

#define RSS_KEY_BYTES 40
#define RSS_ENTRIES   256 /* of the indirection table. Linux mlx5e: MLX5E_LOG_INDIR_RQT_SIZE is 8 */

/* Reads a key of 80 hexadecimal digits. Returns false if the text is not one. */
bool rss_read_key(const char *text, uint8_t key[RSS_KEY_BYTES]);

uint32_t rss_hash(const uint8_t key[RSS_KEY_BYTES], const struct shim_address *source,
		  const struct shim_address *destination);

/* Returns the queue. Entry i of the table has queue i modulo queues, as ethtool sets it. */
static inline uint32_t rss_queue(uint32_t hash, uint32_t queues)
{
	return hash % RSS_ENTRIES % queues;
}

#endif
