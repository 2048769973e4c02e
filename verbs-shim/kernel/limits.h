/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits: capabilities that the device reports and enforces. The values are from a ConnectX-4
 * (MT27700, MCX455A/456A), as `ibv_devinfo -v` prints them for firmware 12.x. Capabilities that
 * hcasim does not model are not reported.
 */
#ifndef VERBS_SHIM_KERNEL_LIMITS_H
#define VERBS_SHIM_KERNEL_LIMITS_H

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <stdint.h>

#include "hca/formats/wqe.h"

/* clang-format off */
/* X(name, value): the fields of struct ib_uverbs_query_device_resp */
#define DEVICE_LIMITS(X) \
	X(max_mr_size, UINT64_MAX) \
	X(page_size_cap, UINT64_C(0xfffffffffffff000)) \
	X(vendor_id, 0x02c9) \
	X(vendor_part_id, 0x1013) \
	X(hw_ver, 0) \
	X(max_qp, 262144) \
	X(max_qp_wr, 32768) \
	X(max_sge, 30) \
	X(max_sge_rd, 30) \
	X(max_cq, 16777216) \
	X(max_cqe, 4194303) \
	X(max_mr, 16777216) \
	X(max_pd, 16777216) \
	X(max_qp_rd_atom, 16) \
	X(max_res_rd_atom, 4194304) \
	X(max_qp_init_rd_atom, 16) \
	X(atomic_cap, 1 /* among the QPs of this adapter */) \
	X(max_mw, 16777216) \
	X(max_mcast_grp, 2097152) \
	X(max_mcast_qp_attach, 240) \
	X(max_total_mcast_qp_attach, 503316480) \
	X(max_ah, 2147483647) \
	X(max_srq, 8388608) \
	X(max_srq_wr, 32767) \
	X(max_srq_sge, 31) \
	X(max_pkeys, 128) \
	X(local_ca_ack_delay, 16) \
	X(phys_port_cnt, 1)

/* struct mlx5_ib_alloc_ucontext_resp */
#define UCONTEXT_LIMITS(X) \
	X(qp_tab_size, 262144) \
	X(bf_reg_size, 512) \
	X(cache_line_size, 64) \
	X(max_sq_desc_sz, 1024) \
	X(max_rq_desc_sz, 512) \
	X(max_send_wqebb, 32768) \
	X(max_recv_wr, 32768) \
	X(max_srq_recv_wr, 32768) \
	X(num_ports, 1) \
	X(log_uar_size, 12) \
	X(num_uars_per_page, 1)
/* clang-format on */

extern const struct ib_uverbs_query_device_resp limits_of_device;
extern const struct mlx5_ib_alloc_ucontext_resp limits_of_ucontext;

#define FIRMWARE_MAJOR 12
#define FIRMWARE_MINOR 28
#define FIRMWARE_PATCH 2006
#define BOARD_ID       "MT_2180110032" /* MCX455A-ECAT */
#define HCA_TYPE       "MT4115"

#define VERBS_MAJOR             231
#define VERBS_MINOR             192
#define CM_MAJOR                10 /* miscellaneous devices */
#define CM_MINOR                58
#define NETWORK_INTERFACE       "eth0"
#define NETWORK_INTERFACE_INDEX 2

#define GID_TABLE_INFINIBAND  8
#define GID_TABLE_ETHERNET    16
#define PKEY_TABLE_INFINIBAND 128
#define PKEY_TABLE_ETHERNET   1
#define MESSAGE_BYTES_MAX     WQE_LENGTH_MAX
/* Bits of enum ib_odp_general_cap_bits and ib_odp_transport_cap_bits, which no header of the ABI
 * exports: SEND, RECV, WRITE, READ, ATOMIC, SRQ_RECV. */
#define ODP_SUPPORTED   1
#define ODP_IMPLICIT    2
#define ODP_OF_RELIABLE 0x3f

#define TIMESTAMP_MASK UINT64_C(0x7fffffffffffffff) /* mask of the clock that programs read */

#define COMPLETION_VECTORS 8

#endif
