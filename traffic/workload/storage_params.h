/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_params: parameters of pattern storage: the protocol and its sizes, the storage device of
 * a target, and the time of processor cores for an operation. Lists: storage_param_list,
 * storage_device_param_list, storage_cpu_param_list.
 */
#ifndef TRAFFIC_WORKLOAD_STORAGE_PARAMS_H
#define TRAFFIC_WORKLOAD_STORAGE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define STORAGE_PARAMS(X) \
	X(protocol, CHOICE, "nvme_of", "nvme_of|nfs|smb|kv_one_sided|kv_rpc", \
	  "Protocol of the operations. Hosts with transport: tcp use its form for TCP. " \
	  "kv_one_sided: a key-value store whose clients read with RDMA READ.", \
	  "choice") \
	X(queue_depth, COUNT, "1", "1..65536", \
	  "Operations of an initiator that are in progress at the same time.", \
	  "choice") \
	X(block_sizes, SIZES, "[4KiB]", "1B..16MiB", \
	  "Sizes of the data of an operation. Each operation draws one size, all with the same " \
	  "probability.", \
	  "choice") \
	X(read_fraction, RATIO, "1", "0..1", \
	  "Probability that an operation is a read. The other operations are writes.", \
	  "choice") \
	X(operations, COUNT, "1000", "1..10000000", \
	  "Maximum number of operations of an initiator.", \
	  "choice") \
	X(duration, TIME, "0ps", "", \
	  "Time from workload.start after which no operation begins. 0: only `operations` ends " \
	  "the workload.", \
	  "choice") \
	X(connections, COUNT, "1", "1..1024", \
	  "Queue pairs or TCP connections between an initiator and a target, in each " \
	  "direction. Operations in progress use them in turn.", \
	  "choice") \
	X(in_capsule, BYTES, "4KiB", "0B..1MiB", \
	  "nvme_of over RDMA: largest data of a write that its command capsule carries.", \
	  "Linux, drivers/nvme/target/rdma.c: NVMET_RDMA_DEFAULT_INLINE_DATA_SIZE, a page") \
	X(tcp_in_capsule, BYTES, "16KiB", "0B..1MiB", \
	  "nvme_of over TCP: largest data of a write that its command capsule carries.", \
	  "Linux, drivers/nvme/target/tcp.c: NVMET_TCP_DEF_INLINE_DATA_SIZE, four pages") \
	X(data_pdu, BYTES, "4MiB", "4KiB..16MiB", \
	  "nvme_of over TCP: largest data of an H2CData or C2HData PDU.", \
	  "Linux, drivers/nvme/target/tcp.c: NVMET_TCP_MAXH2CDATA; for C2HData: choice") \
	X(c2h_success, FLAG, "false", "", \
	  "nvme_of over TCP: the last C2HData PDU of a read has the SUCCESS flag and replaces " \
	  "the response capsule.", \
	  "Linux, drivers/nvme/target/tcp.c: only if the host disables SQ flow control") \
	X(inline_threshold, BYTES, "4KiB", "1KiB..64KiB", \
	  "nfs over RDMA: largest message that a SEND carries. Longer ones move their data in " \
	  "chunks.", \
	  "Linux, include/linux/sunrpc/xprtrdma.h: RPCRDMA_DEF_INLINE; RFC 8166, 3.3.2: 1024") \
	X(send_size, BYTES, "1364B", "128B..1MiB", \
	  "smb over RDMA: largest SMB Direct message, with its header.", \
	  "Linux, fs/smb/client/smbdirect.c and server/transport_rdma.c: 1364") \
	X(credits, COUNT, "255", "1..65535", \
	  "smb over RDMA: send credits of a connection. Each operation in progress has an equal " \
	  "share, one at least.", \
	  "Linux, server/transport_rdma.c: smb_direct_send_credit_target; the share: choice") \
	X(rdma_threshold, BYTES, "4KiB", "0B..16MiB", \
	  "smb over RDMA: smallest data that the target moves to or from a registered buffer. " \
	  "Smaller data are in messages.", \
	  "Linux, fs/smb/client/smbdirect.c: rdma_readwrite_threshold") \
	X(key, BYTES, "16B", "1B..1KiB", \
	  "kv: size of a key.", \
	  "choice: as in HERD, SIGCOMM 2014") \
	X(bucket, BYTES, "64B", "8B..64KiB", \
	  "kv_one_sided: size of the bucket of the index that a client reads before the value.", \
	  "choice: a cache line") \
	X(header, BYTES, "16B", "0B..1KiB", \
	  "kv: size of the header of a request and of a response.", \
	  "choice")

#define STORAGE_DEVICE_PARAMS(X) \
	X(latency, TIME, "10us", "0ps..1s", \
	  "Time of an operation on an idle device. An operation whose service takes longer takes " \
	  "the time of its service.", \
	  "Intel Optane SSD DC P4800X, product brief: 10 us (recalled)") \
	X(iops, COUNT, "550000", "0..1000000000", \
	  "Maximum number of operations that the device begins per second. 0: no limit.", \
	  "Intel Optane SSD DC P4800X, product brief: 550000 random reads of 4 KiB (recalled)") \
	X(rate, RATE, "19.2Gbps", "1Mbps..100Tbps", \
	  "Rate at which the device moves data.", \
	  "Intel Optane SSD DC P4800X, product brief: 2.4 GB/s of reads (recalled)")

#define STORAGE_CPU_PARAMS(X) \
	X(cores, COUNT, "1", "1..1024", \
	  "Cores of a host that execute its operations. Work that finds no free core waits.", \
	  "choice: results are then per core") \
	X(submit, TIME, "1us", "0ps..1ms", \
	  "nvme_of, nfs, smb: time of the initiator for an operation before its first message.", \
	  "assumed: file system, block layer and driver of Linux") \
	X(complete, TIME, "1us", "0ps..1ms", \
	  "nvme_of, nfs, smb: time of the initiator for an operation after its last message.", \
	  "assumed: as submit") \
	X(serve, TIME, "1.5us", "0ps..1ms", \
	  "nvme_of, nfs, smb: time of the target for an operation.", \
	  "assumed: command, block layer and device driver of Linux") \
	X(client, TIME, "100ns", "0ps..1ms", \
	  "kv: time of the client for an operation.", \
	  "assumed: a hash of the key, in user space") \
	X(lookup, TIME, "200ns", "0ps..1ms", \
	  "kv: time of the server for a request.", \
	  "assumed: two cache misses") \
	X(rdma_message, TIME, "150ns", "0ps..1ms", \
	  "RDMA: time of a core for each SEND, WRITE or READ that it posts, and each SEND that " \
	  "it receives.", \
	  "assumed: post a work request or poll a completion, with its bookkeeping") \
	X(tcp_send, TIME, "1050ns", "0ps..1ms", \
	  "TCP: time of a core for each message that it sends.", \
	  "Peter et al. (Arrakis), OSDI 2014, table 1: Linux, network stack, out, 1.05 us") \
	X(tcp_receive, TIME, "1260ns", "0ps..1ms", \
	  "TCP: time of a core for each message that it receives.", \
	  "Peter et al. (Arrakis), OSDI 2014, table 1: Linux, network stack, in, 1.26 us") \
	X(tcp_copy, RATE, "85.6Gbps", "1Gbps..100Tbps", \
	  "TCP: rate at which a core copies received messages. Sent ones are not copied.", \
	  "Cai et al., SIGCOMM 2021: 42 Gb/s on a core that copies half of its time")
/* clang-format on */

enum storage_protocol {
	STORAGE_NVME_OF,
	STORAGE_NFS,
	STORAGE_SMB,
	STORAGE_KV_ONE_SIDED,
	STORAGE_KV_RPC,
};

struct storage_params {
	STORAGE_PARAMS(PARAM_FIELD)
};

struct storage_device_params {
	STORAGE_DEVICE_PARAMS(PARAM_FIELD)
};

struct storage_cpu_params {
	STORAGE_CPU_PARAMS(PARAM_FIELD)
};

extern const struct param storage_param_list[], storage_device_param_list[],
	storage_cpu_param_list[];

#endif
