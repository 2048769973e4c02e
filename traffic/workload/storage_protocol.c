/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_protocol: the messages of an operation of each protocol, and their sizes.
 *
 *     nvme_of        NVMe over Fabrics 1.1, 2.1 and 2.2: capsules. NVMe RDMA Transport 1.0, 3.2:
 *                    data by RDMA WRITE and READ of the controller. NVMe TCP Transport 1.0, 3.6:
 *                    CapsuleCmd, CapsuleResp, R2T, H2CData, C2HData.
 *     nfs            RFC 8166, 4.2 and 4.3: header and chunk lists. RFC 8267, 3: READ data in a
 *                    write chunk, WRITE data in a read chunk. RFC 1813, 3.3.6 and 3.3.7. RFC 5531,
 *                    9 and 11: headers of calls and replies, record mark of TCP.
 *     smb            MS-SMBD 2.2.3: data transfer message, 3.1.1.1: fragments and credits.
 *                    MS-SMB2 2.2.19 to 2.2.22: READ and WRITE. 2.1: header of TCP.
 *     kv_one_sided   Pilaf, USENIX ATC 2013, and FaRM, NSDI 2014: GET by READs, PUT by messages.
 *     kv_rpc         GET and PUT by messages.
 *
 * Opened: MS-SMBD 2.2.3, MS-SMB2 2.2.19, and of Linux the layouts of NVMe/TCP PDUs
 * (include/linux/nvme-tcp.h) and of SMB Direct (smbdirect_pdu.h). All else is recalled.
 */
#include <inttypes.h>
#include <stdio.h>

#include "traffic/workload/storage.h"

#define I STORAGE_INITIATOR
#define T STORAGE_TARGET

/* NVMe */
#define SQE_BYTES         64
#define CQE_BYTES         16
#define PDU_HEADER_BYTES  8
#define CAPSULE_CMD_BYTES (PDU_HEADER_BYTES + SQE_BYTES)
#define CAPSULE_RSP_BYTES (PDU_HEADER_BYTES + CQE_BYTES)
#define R2T_BYTES         24
#define DATA_PDU_BYTES    24 /* of H2CData and C2HData, before the data */

/* NFS version 3 with AUTH_SYS of an empty machine name and no further groups, and a file handle of
 * 32 bytes. A reply has the attributes of the file. */
#define CALL_BYTES        60 /* RFC 5531, 9: 24, credential 28, verifier 8 */
#define REPLY_BYTES       24
#define READ_CALL_BYTES   (CALL_BYTES + 36 + 8 + 4)
#define READ_REPLY_BYTES  (REPLY_BYTES + 4 + 88 + 4 + 4 + 4)
#define WRITE_CALL_BYTES  (CALL_BYTES + 36 + 8 + 4 + 4 + 4)
#define WRITE_REPLY_BYTES (REPLY_BYTES + 4 + 28 + 88 + 4 + 4 + 8)
#define RECORD_MARK_BYTES 4
#define RDMA_HEADER_BYTES 28 /* RFC 8166, 4.2: four words; three empty lists */
#define READ_CHUNK_BYTES  24
#define WRITE_CHUNK_BYTES 24

/* SMB */
#define SMBD_HEADER_BYTES     24 /* with the padding before the data */
#define SMBD_CREDITS_BYTES    20 /* a message without data */
#define SMB2_HEADER_BYTES     64
#define SMB2_READ_BYTES       (SMB2_HEADER_BYTES + 49)
#define SMB2_READ_RSP_BYTES   (SMB2_HEADER_BYTES + 16)
#define SMB2_WRITE_BYTES      (SMB2_HEADER_BYTES + 48)
#define SMB2_WRITE_RSP_BYTES  (SMB2_HEADER_BYTES + 17)
#define SMB2_DESCRIPTOR_BYTES 16 /* of a registered buffer, MS-SMBD 2.2.3.1 */
#define SMB_TCP_BYTES         4

static const struct storage_params *params_of(const struct storage_operation *operation)
{
	return operation->storage->params;
}

static const struct storage_cpu_params *cpu_of(const struct storage_operation *operation)
{
	return operation->storage->cpu;
}

static void send(struct storage_operation *operation, enum storage_side side, uint64_t bytes)
{
	storage_post(operation, side, WORKLOAD_SEND, bytes);
}

/* Sends the command to the target, whose cores process it. */
static void send_command(struct storage_operation *operation, uint64_t bytes)
{
	storage_step(operation, I, cpu_of(operation)->submit);
	send(operation, I, bytes);
	storage_step(operation, T, cpu_of(operation)->serve);
}

/* Adds the visit of the device. The target may respond after it. */
static void use_device(struct storage_operation *operation)
{
	storage_visit_device(operation);
	storage_step(operation, T, 0);
}

/* Fetches the data of a write to the target, whose cores see the end of the transfer. */
static void fetch(struct storage_operation *operation)
{
	storage_post(operation, T, WORKLOAD_READ, operation->bytes);
	use_device(operation);
}

/* ---- NVMe over Fabrics ---- */

static void run_nvme_rdma(struct storage_operation *operation)
{
	bool carried = operation->write && operation->bytes <= params_of(operation)->in_capsule;

	send_command(operation, SQE_BYTES + (carried ? operation->bytes : 0));
	if (operation->write && !carried)
		fetch(operation);
	else
		use_device(operation);
	if (!operation->write)
		storage_post(operation, T, WORKLOAD_WRITE, operation->bytes);
	send(operation, T, CQE_BYTES);
}

static void send_data_pdus(struct storage_operation *operation, enum storage_side side)
{
	uint64_t most = params_of(operation)->data_pdu;

	for (uint64_t left = operation->bytes; left;) {
		uint64_t bytes = left < most ? left : most;

		send(operation, side, DATA_PDU_BYTES + bytes);
		left -= bytes;
	}
}

static void run_nvme_tcp(struct storage_operation *operation)
{
	bool carried = operation->write && operation->bytes <= params_of(operation)->tcp_in_capsule;

	send_command(operation, CAPSULE_CMD_BYTES + (carried ? operation->bytes : 0));
	if (operation->write && !carried) {
		send(operation, T, R2T_BYTES);
		storage_step(operation, I, 0);
		send_data_pdus(operation, I);
		storage_step(operation, T, 0);
	}
	use_device(operation);
	if (!operation->write)
		send_data_pdus(operation, T);
	if (operation->write || !params_of(operation)->c2h_success)
		send(operation, T, CAPSULE_RSP_BYTES);
}

/* ---- NFS ---- */

static uint64_t padded(uint64_t bytes)
{
	return (bytes + 3) / 4 * 4; /* RFC 4506, 4.10 */
}

static void run_nfs_rdma(struct storage_operation *operation)
{
	uint64_t most = params_of(operation)->inline_threshold, data = padded(operation->bytes);

	if (operation->write) {
		bool carried = RDMA_HEADER_BYTES + WRITE_CALL_BYTES + data <= most;

		send_command(operation, RDMA_HEADER_BYTES + WRITE_CALL_BYTES +
						(carried ? data : READ_CHUNK_BYTES));
		if (carried)
			use_device(operation);
		else
			fetch(operation);
		send(operation, T, RDMA_HEADER_BYTES + WRITE_REPLY_BYTES);
	} else {
		bool carried = RDMA_HEADER_BYTES + READ_REPLY_BYTES + data <= most;
		uint64_t chunk = carried ? 0 : WRITE_CHUNK_BYTES;

		send_command(operation, RDMA_HEADER_BYTES + READ_CALL_BYTES + chunk);
		use_device(operation);
		if (!carried)
			storage_post(operation, T, WORKLOAD_WRITE, operation->bytes);
		send(operation, T, RDMA_HEADER_BYTES + READ_REPLY_BYTES + (carried ? data : chunk));
	}
}

static void run_nfs_tcp(struct storage_operation *operation)
{
	uint64_t data = padded(operation->bytes);

	send_command(operation, RECORD_MARK_BYTES + (operation->write ? WRITE_CALL_BYTES + data
								      : READ_CALL_BYTES));
	use_device(operation);
	send(operation, T,
	     RECORD_MARK_BYTES + (operation->write ? WRITE_REPLY_BYTES : READ_REPLY_BYTES + data));
}

/* ---- SMB ---- */

/* Sends an SMB2 message in fragments, in the step of the side. When it has used its credits, it
 * waits for a message that grants new ones. */
static void send_fragments(struct storage_operation *operation, enum storage_side side,
			   uint64_t bytes)
{
	uint64_t most = params_of(operation)->send_size - SMBD_HEADER_BYTES;
	uint64_t credits = params_of(operation)->credits / operation->depth, used = 0;

	while (bytes) {
		uint64_t carried = bytes < most ? bytes : most;

		if (used && used >= credits) {
			storage_step(operation, side == I ? T : I, 0);
			send(operation, side == I ? T : I, SMBD_CREDITS_BYTES);
			storage_step(operation, side, 0);
			used = 0;
		}
		send(operation, side, SMBD_HEADER_BYTES + carried);
		bytes -= carried;
		used++;
	}
}

static void run_smb_rdma(struct storage_operation *operation)
{
	bool registered = operation->bytes >= params_of(operation)->rdma_threshold;

	storage_step(operation, I, cpu_of(operation)->submit);
	if (registered) /* the descriptor is in the place of data */
		send_fragments(operation, I,
			       (operation->write ? SMB2_WRITE_BYTES : SMB2_READ_BYTES - 1) +
				       SMB2_DESCRIPTOR_BYTES);
	else
		send_fragments(operation, I,
			       operation->write ? SMB2_WRITE_BYTES + operation->bytes
						: SMB2_READ_BYTES);
	storage_step(operation, T, cpu_of(operation)->serve);
	if (registered && operation->write)
		fetch(operation);
	else
		use_device(operation);
	if (registered && !operation->write)
		storage_post(operation, T, WORKLOAD_WRITE, operation->bytes);
	if (operation->write)
		send_fragments(operation, T, SMB2_WRITE_RSP_BYTES);
	else
		send_fragments(operation, T,
			       SMB2_READ_RSP_BYTES + (registered ? 0 : operation->bytes));
}

static void run_smb_tcp(struct storage_operation *operation)
{
	uint64_t bytes = operation->bytes;

	send_command(operation, SMB_TCP_BYTES + (operation->write ? SMB2_WRITE_BYTES + bytes
								  : SMB2_READ_BYTES));
	use_device(operation);
	send(operation, T,
	     SMB_TCP_BYTES +
		     (operation->write ? SMB2_WRITE_RSP_BYTES : SMB2_READ_RSP_BYTES + bytes));
}

/* ---- key-value stores ---- */

static void run_kv_rpc(struct storage_operation *operation)
{
	const struct storage_params *params = params_of(operation);
	uint64_t bytes = operation->bytes;

	storage_step(operation, I, cpu_of(operation)->client);
	send(operation, I, params->header + params->key + (operation->write ? bytes : 0));
	storage_step(operation, T, cpu_of(operation)->lookup);
	send(operation, T, params->header + (operation->write ? 0 : bytes));
}

static void run_kv_reads(struct storage_operation *operation)
{
	storage_step(operation, I, cpu_of(operation)->client);
	storage_post(operation, I, WORKLOAD_READ, params_of(operation)->bucket);
	storage_step(operation, I, 0);
	storage_post(operation, I, WORKLOAD_READ, operation->bytes);
}

/* ---- all ---- */

void storage_protocol_run(struct storage_operation *operation)
{
	bool tcp = operation->storage->tcp, kv = false;

	switch ((enum storage_protocol)params_of(operation)->protocol) {
	case STORAGE_NVME_OF:
		(tcp ? run_nvme_tcp : run_nvme_rdma)(operation);
		break;
	case STORAGE_NFS:
		(tcp ? run_nfs_tcp : run_nfs_rdma)(operation);
		break;
	case STORAGE_SMB:
		(tcp ? run_smb_tcp : run_smb_rdma)(operation);
		break;
	case STORAGE_KV_ONE_SIDED:
	case STORAGE_KV_RPC:
		kv = true;
		if (operation->write || params_of(operation)->protocol == STORAGE_KV_RPC)
			run_kv_rpc(operation);
		else
			run_kv_reads(operation);
		break;
	}
	storage_step(operation, I, kv ? 0 : cpu_of(operation)->complete);
}

bool storage_protocol_check(const struct storage *storage, char *error, size_t error_bytes)
{
	if (storage->params->protocol != STORAGE_KV_ONE_SIDED || !storage->tcp)
		return true;
	snprintf(error, error_bytes,
		 "storage.protocol: kv_one_sided reads by RDMA, and the hosts have transport: tcp; "
		 "expected protocol: kv_rpc");
	return false;
}
