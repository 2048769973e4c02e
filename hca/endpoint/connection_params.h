/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection_params: the memory of the queue pairs and TCP connections of an endpoint adapter, and
 * the cache of their contexts. Lists: connection_cache_param_list, connection_memory_param_list.
 */
#ifndef HCA_ENDPOINT_CONNECTION_PARAMS_H
#define HCA_ENDPOINT_CONNECTION_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define CONNECTION_CACHE_PARAMS(X)                                                                 \
	X(entries, COUNT, "0", "0..1048576",                                                 \
	  "Contexts of queue pairs or iWARP connections that the adapter caches. A packet waits "  \
	  "until its context is there. `0`: the adapter holds all contexts.",                      \
	  "choice; a value: assumed, as published sizes are rare")                                 \
	X(ways, COUNT, "4", "1..64",                                                         \
	  "Ways of each set of the cache.", "assumed: as requester_cache of detailed adapters")    \
	X(latency, TIME, "600ns", "0ps..1ms",                                                   \
	  "Time to fetch a context from host memory.",                                             \
	  "pciebench, SIGCOMM 2018 (row B1-01): one DMA read. Memory-free T6 adapters keep "       \
	  "contexts in host memory (Linux cxgb4: HMA)")                                            \
	X(fetches, COUNT, "16", "1..1024",                                                   \
	  "Contexts that are fetched at the same time.",                                           \
	  "assumed: as requester_cache of detailed adapters")

#define CONNECTION_MEMORY_PARAMS(X)                                                                \
	X(send_entries, COUNT, "128", "1..65536",                                                  \
	  "Work requests of a send queue, for its memory. The endpoint accepts any number.",       \
	  "assumed")                                                                               \
	X(receive_entries, COUNT, "128", "1..65536",                                               \
	  "Work requests of a receive queue, for its memory.", "assumed")                          \
	X(rdma_context, BYTES, "375B", "1B..64KiB",                                                \
	  "Context of a queue pair.", "Kalia's PhD thesis and Storm (row A4-13)")                  \
	X(rdma_send_wqe, BYTES, "64B", "16B..1KiB",                                                \
	  "Entry of a send queue.", "mlx5 driver: MLX5_SEND_WQE_BB")                               \
	X(rdma_receive_wqe, BYTES, "16B", "16B..1KiB",                                             \
	  "Entry of a receive queue.", "mlx5 driver: one mlx5_wqe_data_seg")                       \
	X(iwarp_context, BYTES, "128B", "1B..64KiB",                                               \
	  "TCP control block of the adapter.", "Chelsio's cxgbe driver: TCB_SIZE")                 \
	X(iwarp_receive_entry, BYTES, "64B", "0B..1KiB",                                           \
	  "Memory of the adapter for each entry of a receive queue.",                              \
	  "Linux iw_cxgb4: c4iw_rqtpool_alloc(), rqt_size << 6")                                   \
	X(iwarp_send_wqe, BYTES, "320B", "16B..1KiB",                                              \
	  "Entry of a send queue.", "Linux iw_cxgb4: T4_SQ_NUM_BYTES")                             \
	X(iwarp_receive_wqe, BYTES, "128B", "16B..1KiB",                                           \
	  "Entry of a receive queue.", "Linux iw_cxgb4: T4_RQ_NUM_BYTES")                          \
	X(iwarp_send_buffer, BYTES, "128KiB", "1KiB..64MiB",                                       \
	  "Bytes of a connection that the adapter reads ahead and keeps until their ACK.",         \
	  "Linux iw_cxgb4: snd_win")                                                               \
	X(socket_send_buffer, BYTES, "4MiB", "4KiB..1GiB",                                         \
	  "Largest send buffer of a TCP socket. It holds two congestion windows at most.",         \
	  "Linux tcp_wmem[2]; tcp_sndbuf_expand()")                                                \
	X(socket, BYTES, "3584B", "1B..64KiB",                                                     \
	  "Objects of the host's kernel for a TCP socket.",                                        \
	  "slabinfo of Linux 6.18, x86-64: TCP 2368 B, sock_inode_cache 832 B, filp 192 B, "       \
	  "dentry 192 B")
/* clang-format on */

struct connection_cache_params {
	CONNECTION_CACHE_PARAMS(PARAM_FIELD)
};

struct connection_memory_params {
	CONNECTION_MEMORY_PARAMS(PARAM_FIELD)
};

extern const struct param connection_cache_param_list[], connection_memory_param_list[];

#endif
