/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that WQEs are parsed and CQEs built byte for byte as in <infiniband/mlx5dv.h>. The same
 * bytes are written through its structs, and malformed ones are refused for the right reason.
 */
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "hca/formats/cqe.h"
#include "hca/formats/wqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)           \
	TEST(write)           \
	TEST(flags)           \
	TEST(inline)          \
	TEST(inline_and_list) \
	TEST(atomic)          \
	TEST(datagram)        \
	TEST(bind)            \
	TEST(refused)         \
	TEST(receive)         \
	TEST(cqe)             \
	TEST(error_cqe)
SUITE(TESTS)

#define QPN 0x123456

static uint8_t bytes[WQE_BYTES_MAX];
static uint32_t size;

static void *append(uint32_t length)
{
	void *at = bytes + size;

	size += length;
	return at;
}

static void begin(uint8_t opcode, uint8_t flags)
{
	struct mlx5_wqe_ctrl_seg *control;

	memset(bytes, 0, sizeof(bytes));
	size = 0;
	control = append(sizeof(*control));
	control->opmod_idx_opcode = htobe32(0xbeefu << 8 | opcode);
	control->fm_ce_se = flags;
	control->imm = htobe32(0xcafef00d);
}

static enum wqe_error parse(enum qp_type type, struct send_wqe *wqe)
{
	struct mlx5_wqe_ctrl_seg *control = (void *)bytes;

	control->qpn_ds = htobe32(QPN << 8 | size / 16);
	memset(wqe, 0xa5, sizeof(*wqe));
	return wqe_parse(bytes, QPN, type, wqe);
}

static void append_data(uint32_t length, uint32_t key, uint64_t address)
{
	mlx5dv_set_data_seg(append(16), length, key, address);
}

static void append_remote(uint64_t address, uint32_t key)
{
	struct mlx5_wqe_raddr_seg *remote = append(sizeof(*remote));

	remote->raddr = htobe64(address);
	remote->rkey = htobe32(key);
}

static void test_write(void)
{
	struct send_wqe wqe;

	begin(MLX5_OPCODE_RDMA_WRITE_IMM, MLX5_WQE_CTRL_CQ_UPDATE | MLX5_WQE_CTRL_SOLICITED);
	append_remote(0x1122334455667788, 0x99aabbcc);
	append_data(100, 0x1000, 0x7fff00001000);
	append_data(23, 0x1100, 0x7fff00002000);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_OK);
	CU_ASSERT_EQUAL(wqe.opcode, WQE_WRITE_IMMEDIATE);
	CU_ASSERT_EQUAL(wqe.index, 0xbeef);
	CU_ASSERT_EQUAL(wqe.units, 4);
	CU_ASSERT_TRUE(wqe.signaled && wqe.solicited && !wqe.fence && !wqe.inline_bytes);
	CU_ASSERT_EQUAL(wqe.immediate, 0xcafef00d);
	CU_ASSERT_EQUAL(wqe.remote_address, 0x1122334455667788);
	CU_ASSERT_EQUAL(wqe.rkey, 0x99aabbcc);
	CU_ASSERT_EQUAL(wqe.segment_count, 2);
	CU_ASSERT_EQUAL(wqe.length, 123);
	CU_ASSERT_EQUAL(wqe_segments(&wqe)[1].address, 0x7fff00002000);
	CU_ASSERT_EQUAL(wqe_segments(&wqe)[1].length, 23);
	CU_ASSERT_EQUAL(wqe_segments(&wqe)[1].key, 0x1100);
	CU_ASSERT_EQUAL(wqe_blocks(bytes), 1);
	append_data(1, 0x1100, 0);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_OK);
	CU_ASSERT_EQUAL(wqe_blocks(bytes), 2);
}

static void test_flags(void)
{
	struct send_wqe wqe;

	begin(MLX5_OPCODE_SEND, MLX5_WQE_CTRL_FENCE);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_OK);
	CU_ASSERT_TRUE(!wqe.signaled && !wqe.solicited && wqe.fence);
	CU_ASSERT_EQUAL(wqe.length, 0);
	begin(MLX5_OPCODE_SEND, MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_OK);
	CU_ASSERT_FALSE(wqe.fence); /* of local operations only, which are in order anyway */
}

static void test_inline(void)
{
	struct send_wqe wqe;
	uint8_t *data;

	begin(MLX5_OPCODE_SEND, 0);
	data = append(32);
	*(uint32_t *)(void *)data = htobe32(MLX5_INLINE_SEG | 21);
	memcpy(data + 4, "twenty-one bytes long", 21);
	CU_ASSERT_EQUAL(parse(QP_UC, &wqe), WQE_OK);
	CU_ASSERT_EQUAL(wqe.inline_bytes, 21);
	CU_ASSERT_EQUAL(wqe.segment_count, 0);
	CU_ASSERT_EQUAL(wqe.length, 21);
	CU_ASSERT_EQUAL(memcmp(wqe.inline_data, "twenty-one bytes long", 21), 0);
	*(uint32_t *)(void *)data = htobe32(MLX5_INLINE_SEG | 28);
	CU_ASSERT_EQUAL(parse(QP_UC, &wqe), WQE_OK);
	*(uint32_t *)(void *)data = htobe32(MLX5_INLINE_SEG | 29); /* over the end */
	CU_ASSERT_EQUAL(parse(QP_UC, &wqe), WQE_BAD_SIZE);
}

/* The WQE has a header inline, followed by a list of memory that is not copied. */
static void test_inline_and_list(void)
{
	struct send_wqe wqe;
	uint8_t *data;

	begin(MLX5_OPCODE_SEND, 0);
	data = append(32);
	*(uint32_t *)(void *)data = htobe32(MLX5_INLINE_SEG | 17);
	memcpy(data + 4, "a header of bytes", 17);
	append_data(100, 0x1000, 0x7fff00001000);
	append_data(23, 0x1100, 0x7fff00002000);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_OK);
	CU_ASSERT_EQUAL(wqe.length, 140);
	CU_ASSERT_EQUAL(wqe.inline_bytes, 17);
	CU_ASSERT_EQUAL(memcmp(wqe.inline_data, "a header of bytes", 17), 0);
	CU_ASSERT_EQUAL(wqe.segment_count, 2);
	CU_ASSERT_EQUAL(wqe_segments(&wqe)[0].address, 0x7fff00001000);
	CU_ASSERT_EQUAL(wqe_segments(&wqe)[1].length, 23);
	CU_ASSERT_EQUAL(wqe_segments(&wqe)[1].key, 0x1100);
	data = append(16);
	*(uint32_t *)(void *)data = htobe32(MLX5_INLINE_SEG | 1);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_BAD_SEGMENT);
}

static void test_atomic(void)
{
	struct send_wqe wqe;
	struct mlx5_wqe_atomic_seg *atomic;

	begin(MLX5_OPCODE_ATOMIC_CS, MLX5_WQE_CTRL_CQ_UPDATE);
	append_remote(0x1000, 0x77);
	atomic = append(sizeof(*atomic));
	atomic->swap_add = htobe64(0x0102030405060708);
	atomic->compare = htobe64(0x1112131415161718);
	append_data(8, 0x1000, 0x2000);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_OK);
	CU_ASSERT_EQUAL(wqe.swap_or_add, 0x0102030405060708);
	CU_ASSERT_EQUAL(wqe.compare, 0x1112131415161718);
	CU_ASSERT_EQUAL(wqe_segments(&wqe)[0].address, 0x2000);
	CU_ASSERT_EQUAL(parse(QP_UC, &wqe), WQE_BAD_OPCODE);
	append_data(8, 0x1000, 0x2000);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_BAD_LENGTH);
}

static void test_datagram(void)
{
	static const uint8_t mac[6] = {1, 2, 3, 4, 5, 6};
	static const uint8_t gid[16] = {0xfe, 0x80, [15] = 9};
	struct send_wqe wqe;

	begin(MLX5_OPCODE_SEND_IMM, 0);
	mlx5dv_set_dgram_seg(append(48), (uint64_t)0x11223344 << 32, 0x654321, 1, 0x05, 0x80, 0x77,
			     (uint8_t *)(uintptr_t)mac, 3, 64, 0x40000001,
			     (uint8_t *)(uintptr_t)gid);
	append_data(5, 0x1000, 0x2000);
	CU_ASSERT_EQUAL(parse(QP_UD, &wqe), WQE_OK);
	CU_ASSERT_EQUAL(wqe.qkey, 0x11223344);
	CU_ASSERT_EQUAL(wqe.dest_qp, 0x654321);
	CU_ASSERT_EQUAL(memcmp(wqe.address_vector, bytes + 16, 48), 0);
	CU_ASSERT_EQUAL(wqe.segment_count, 1);
	CU_ASSERT_EQUAL(wqe.length, 5);
	size = 48; /* the vector is cut short */
	CU_ASSERT_EQUAL(parse(QP_UD, &wqe), WQE_BAD_SIZE);
}

static void test_bind(void)
{
	struct send_wqe wqe;
	struct mlx5_wqe_umr_ctrl_seg *control;
	struct mlx5_wqe_mkey_context_seg *context;
	struct mlx5_wqe_umr_klm_seg *region;

	begin(MLX5_OPCODE_UMR, 0);
	control = append(sizeof(*control));
	control->mkey_mask = htobe64(MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN);
	context = append(sizeof(*context));
	context->access_flags = MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_WRITE |
				MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_ATOMIC;
	context->qpn_mkey = htobe32(QPN << 8 | 0x5a);
	context->start_addr = htobe64(0x10002000);
	context->len = htobe64(0x3000);
	region = append(64);
	region->mkey = htobe32(0x4400);
	region->address = htobe64(0x10002000);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_OK);
	CU_ASSERT_TRUE(wqe.region.bind && wqe.region.of_one_qp);
	CU_ASSERT_EQUAL(wqe.region.key, 0xcafef00d);
	CU_ASSERT_EQUAL(wqe.region.new_low, 0x5a);
	CU_ASSERT_EQUAL(wqe.region.access, MR_REMOTE_WRITE | MR_REMOTE_ATOMIC);
	CU_ASSERT_EQUAL(wqe.region.address, 0x10002000);
	CU_ASSERT_EQUAL(wqe.region.length, 0x3000);
	CU_ASSERT_EQUAL(wqe.region.region_key, 0x4400);
	context->free = MLX5_WQE_MKEY_CONTEXT_FREE;
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_OK);
	CU_ASSERT_FALSE(wqe.region.bind);
}

static void test_refused(void)
{
	struct send_wqe wqe;

	begin(0x3e, 0);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_BAD_OPCODE);
	begin(MLX5_OPCODE_TSO, 0);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_BAD_OPCODE);
	begin(MLX5_OPCODE_RDMA_WRITE, 0);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_BAD_SIZE); /* no remote address */
	begin(MLX5_OPCODE_SEND, 0);
	append_data(0x40000000, 1, 0);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_OK);
	append_data(1, 1, 0);
	CU_ASSERT_EQUAL(parse(QP_RC, &wqe), WQE_BAD_LENGTH);
	CU_ASSERT_EQUAL(wqe_parse(bytes, QPN + 1, QP_RC, &wqe), WQE_BAD_QPN);
	memset(bytes, 0, sizeof(bytes));
	CU_ASSERT_EQUAL(wqe_parse(bytes, 0, QP_RC, &wqe), WQE_BAD_SIZE);
}

static void test_receive(void)
{
	struct receive_wqe wqe;

	size = 0;
	append_data(10, 0x1000, 0x2000);
	append_data(20, 0x1000, 0x3000);
	append_data(0, MLX5_INVALID_LKEY, 0);
	append_data(99, 0x1000, 0x4000);
	wqe_parse_receive(bytes, size, &wqe);
	CU_ASSERT_EQUAL(wqe.segment_count, 2);
	CU_ASSERT_EQUAL(wqe.length, 30);
	wqe_parse_receive(bytes, 16, &wqe);
	CU_ASSERT_EQUAL(wqe.segment_count, 1);
}

static void test_cqe(void)
{
	struct mlx5_cqe64 cqe;
	struct completion completion = {
		.opcode = CQE_RECEIVED_SEND_IMMEDIATE,
		.solicited = true,
		.wqe_counter = 0x1234,
		.qpn = QPN,
		.user_index = 0xabcdef,
		.byte_count = 0x01020304,
		.immediate = 0xdeadbeef,
		.timestamp = 0x1122334455667788,
		.source_qp = 0x654321,
		.slid = 0x4321,
		.service_level = 5,
		.path_bits = 3,
		.network_header = 1,
	};

	cqe_build(&completion, 1, NULL, CQE_BYTES, (uint8_t *)&cqe);
	CU_ASSERT_EQUAL(mlx5dv_get_cqe_opcode(&cqe), MLX5_CQE_RESP_SEND_IMM);
	CU_ASSERT_EQUAL(mlx5dv_get_cqe_owner(&cqe), 1);
	CU_ASSERT_EQUAL(mlx5dv_get_cqe_se(&cqe), 1);
	CU_ASSERT_EQUAL(mlx5dv_get_cqe_format(&cqe), 0);
	CU_ASSERT_EQUAL(be16toh(cqe.wqe_counter), 0x1234);
	CU_ASSERT_EQUAL(be32toh(cqe.sop_drop_qpn), QPN);
	CU_ASSERT_EQUAL(be32toh(cqe.srqn_uidx), 0xabcdef);
	CU_ASSERT_EQUAL(be32toh(cqe.byte_cnt), 0x01020304);
	CU_ASSERT_EQUAL(be32toh(cqe.imm_inval_pkey), 0xdeadbeef);
	CU_ASSERT_EQUAL(be64toh(cqe.timestamp), 0x1122334455667788);
	CU_ASSERT_EQUAL(be32toh(cqe.flags_rqpn), 0x15654321);
	CU_ASSERT_EQUAL(be16toh(cqe.slid), 0x4321);
	CU_ASSERT_EQUAL(cqe.ml_path, 3);
	completion = (struct completion){.opcode = CQE_SENT, .wqe_opcode = WQE_READ, .qpn = QPN};
	cqe_build(&completion, 0, NULL, CQE_BYTES, (uint8_t *)&cqe);
	CU_ASSERT_EQUAL(cqe.op_own, 0);
	CU_ASSERT_EQUAL(be32toh(cqe.sop_drop_qpn), (uint32_t)MLX5_OPCODE_RDMA_READ << 24 | QPN);
}

static void test_error_cqe(void)
{
	struct mlx5_err_cqe cqe;
	struct completion completion = {
		.opcode = CQE_SEND_ERROR,
		.status = WORK_RETRIES_EXCEEDED,
		.wqe_opcode = WQE_WRITE,
		.wqe_counter = 7,
		.qpn = QPN,
		.user_index = 9,
	};

	cqe_build(&completion, 0, NULL, CQE_BYTES, (uint8_t *)&cqe);
	CU_ASSERT_EQUAL(cqe.op_own >> 4, MLX5_CQE_REQ_ERR);
	CU_ASSERT_EQUAL(cqe.syndrome, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	CU_ASSERT_EQUAL(cqe.vendor_err_synd, 0x81);
	CU_ASSERT_EQUAL(be16toh(cqe.wqe_counter), 7);
	CU_ASSERT_EQUAL(be32toh(cqe.srqn), 9);
	CU_ASSERT_EQUAL(be32toh(cqe.s_wqe_opcode_qpn), (uint32_t)WQE_WRITE << 24 | QPN);
}
