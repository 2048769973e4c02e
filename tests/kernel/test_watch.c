/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that registration checks all pages of a region, and for a writable region the right to
 * write. The program's polls are watched in regions that the adapter writes, until the last region
 * of a page is destroyed. A refused command does not retire a ring.
 */
#include <errno.h>

#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(holes)             \
	TEST(read_only_pages)   \
	TEST(watched)           \
	TEST(overlapping)       \
	TEST(reregistered)      \
	TEST(busy_rings_remain) \
	TEST(flags_of_queues)
SUITE(TESTS)

enum { PAGE = 0x1000 };

/* The machine's buffer, with one page that is absent or read-only. */
struct patchy {
	struct memory memory;
	struct memory *whole;
	uint64_t hole, read_only;
};

static bool touches(uint64_t page, uint64_t address, uint32_t length)
{
	return page && length && address < page + PAGE && page < address + length;
}

static bool patchy_read(struct memory *memory, uint64_t address, void *bytes, uint32_t length)
{
	struct patchy *patchy = container_of(memory, struct patchy, memory);

	return !touches(patchy->hole, address, length) &&
	       memory_read(patchy->whole, address, bytes, length);
}

static bool patchy_write(struct memory *memory, uint64_t address, const void *bytes,
			 uint32_t length)
{
	struct patchy *patchy = container_of(memory, struct patchy, memory);

	return !touches(patchy->hole, address, length) &&
	       !touches(patchy->read_only, address, length) &&
	       memory_write(patchy->whole, address, bytes, length);
}

static const struct memory_ops patchy_ops = {.load = patchy_read, .store = patchy_write};
static struct patchy patchy;

static struct machine *machine_begin(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);

	patchy =
		(struct patchy){.memory = {.ops = &patchy_ops, .name = "patchy", .has_bytes = true},
				.whole = machine->process.memory};
	machine->process.memory = &patchy.memory;
	machine_open(machine, &machine->process, true);
	return machine;
}

static void machine_end(struct machine *machine)
{
	kernel_process_exit(machine->kernel, &machine->process);
	machine->process.memory = patchy.whole;
	machine_destroy(machine);
}

static int64_t reg(struct machine *machine, uint32_t pd, uint64_t start, uint64_t length,
		   uint32_t access, uint32_t *handle)
{
	struct ib_uverbs_reg_mr request = {.start = start,
					   .length = length,
					   .hca_va = start,
					   .pd_handle = pd,
					   .access_flags = access};
	struct ib_uverbs_reg_mr_resp response;
	int64_t result = RUN(machine, IB_USER_VERBS_CMD_REG_MR, request, response);

	if (!result && handle)
		*handle = response.mr_handle;
	return result;
}

static int64_t dereg(struct machine *machine, uint32_t handle)
{
	struct ib_uverbs_dereg_mr request = {.mr_handle = handle};

	return RUN_QUIET(machine, IB_USER_VERBS_CMD_DEREG_MR, request);
}

/* The page is at the start, after the first 64 KiB, or at the end. */
static void test_holes(void)
{
	struct machine *machine = machine_begin();
	uint32_t pd = make_pd(machine);

	for (uint64_t page = 0; page < 0x40; page++) {
		patchy.hole = RING_AREA + page * PAGE;
		CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA, 0x40 * PAGE, 0, NULL), -EFAULT);
	}
	patchy.hole = RING_AREA + 0x40 * PAGE;
	CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA, 0x40 * PAGE, 1, NULL), 0);
	CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA, 0x40 * PAGE + 1, 1, NULL), -EFAULT);
	machine_end(machine);
}

static void test_read_only_pages(void)
{
	static const uint64_t pages[] = {0, 0x3f};
	struct machine *machine = machine_begin();
	uint32_t pd = make_pd(machine);
	uint8_t before[2 * PAGE], after[2 * PAGE];

	for (unsigned i = 0; i < ARRAY_SIZE(pages); i++) {
		patchy.read_only = RING_AREA + pages[i] * PAGE;
		CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA, 0x40 * PAGE, 1, NULL), -EFAULT);
		CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA, 0x40 * PAGE, 0, NULL), 0);
	}
	patchy.read_only = 0;
	for (unsigned i = 0; i < sizeof(before); i++)
		before[i] = (uint8_t)(i * 7 + 1);
	memory_write(patchy.whole, RING_AREA, before, sizeof(before));
	CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA, sizeof(before), 1, NULL), 0);
	memory_read(patchy.whole, RING_AREA, after, sizeof(after));
	CU_ASSERT_EQUAL(memcmp(before, after, sizeof(before)), 0); /* the look changes nothing */
	machine_end(machine);
}

static void test_watched(void)
{
	struct machine *machine = machine_begin();
	uint32_t pd = make_pd(machine), handle;

	CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA + 100, 5000, 1, &handle), 0);
	CU_ASSERT_EQUAL(machine->call.watched.address, RING_AREA + 100);
	CU_ASSERT_EQUAL(machine->call.watched.length, 5000);
	CU_ASSERT_EQUAL(dereg(machine, handle), 0);
	CU_ASSERT_EQUAL(machine->call.unwatched.address, RING_AREA + 100);
	CU_ASSERT_EQUAL(machine->call.unwatched.length, 5000);
	CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA, 5000, 0, &handle), 0); /* never written */
	CU_ASSERT_EQUAL(machine->call.watched.length, 0);
	CU_ASSERT_EQUAL(reg(machine, pd, 0, UINT64_MAX, 64 | 1, &handle), 0); /* implicit */
	CU_ASSERT_EQUAL(machine->call.watched.length, 0);
	CU_ASSERT_EQUAL(machine->call.latency, 5 * US); /* none of its pages is pinned */
	CU_ASSERT_EQUAL(dereg(machine, handle), 0);
	CU_ASSERT_EQUAL(machine->call.unwatched.length, 0);
	machine_end(machine);
}

/* The second region begins `distance` pages after the last page of the first region. 0: the regions
 * share a page. */
static void overlap(struct machine *machine, uint32_t pd, uint64_t distance, bool first_goes)
{
	uint32_t handles[2];

	CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA + 64, 2 * PAGE - 128, 1, &handles[0]), 0);
	CU_ASSERT_EQUAL(
		reg(machine, pd, RING_AREA + (1 + distance) * PAGE + 4000, 10, 1, &handles[1]), 0);
	CU_ASSERT_EQUAL(dereg(machine, handles[first_goes ? 0 : 1]), 0);
	CU_ASSERT_EQUAL(machine->call.unwatched.length != 0, distance != 0);
	CU_ASSERT_EQUAL(dereg(machine, handles[first_goes ? 1 : 0]), 0);
	CU_ASSERT_EQUAL(machine->call.unwatched.length, first_goes ? 10 : 2 * PAGE - 128);
}

static void test_overlapping(void)
{
	struct machine *machine = machine_begin();
	uint32_t pd = make_pd(machine);

	for (uint64_t distance = 0; distance < 2; distance++)
		for (unsigned first = 0; first < 2; first++)
			overlap(machine, pd, distance, first);
	machine_end(machine);
}

/* After a change of rights, the old domain is free, and the region is watched again. After a change
 * of range, the old range is not watched. */
static void test_reregistered(void)
{
	struct machine *machine = machine_begin();
	uint32_t pd = make_pd(machine), other = make_pd(machine), handle;
	struct ib_uverbs_rereg_mr request = {.flags = 2 | 4, .pd_handle = other, .access_flags = 1};
	struct ib_uverbs_rereg_mr_resp response;
	struct ib_uverbs_dealloc_pd domain = {.pd_handle = pd};

	CU_ASSERT_EQUAL(reg(machine, pd, RING_AREA, PAGE, 0, &handle), 0);
	request.mr_handle = handle;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DEALLOC_PD, domain), -EBUSY);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_REREG_MR, request, response), 0);
	CU_ASSERT_EQUAL(machine->call.watched.length, PAGE);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DEALLOC_PD, domain), 0);
	domain.pd_handle = other;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DEALLOC_PD, domain), -EBUSY);
	request = (struct ib_uverbs_rereg_mr){.mr_handle = handle,
					      .flags = 1,
					      .start = RING_AREA + 4 * PAGE,
					      .hca_va = RING_AREA + 4 * PAGE,
					      .length = 2 * PAGE};
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_REREG_MR, request, response), 0);
	CU_ASSERT_EQUAL(machine->call.unwatched.address, RING_AREA);
	CU_ASSERT_EQUAL(machine->call.unwatched.length, PAGE);
	CU_ASSERT_EQUAL(machine->call.watched.length, 2 * PAGE);
	CU_ASSERT_EQUAL(dereg(machine, handle), 0);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DEALLOC_PD, domain), 0);
	machine_end(machine);
}

/* Destroying a CQ that a queue pair uses fails with EBUSY, and the adapter still uses its ring. */
static void test_busy_rings_remain(void)
{
	struct machine *machine = machine_begin();
	uint32_t pd = make_pd(machine), cq = make_cq(machine, -1, 1, NULL);
	uint32_t qp = make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, NULL);
	struct ib_uverbs_destroy_cq request = {.cq_handle = cq};
	struct ib_uverbs_destroy_cq_resp response;
	struct ib_uverbs_destroy_qp no_more = {.qp_handle = qp};
	struct ib_uverbs_destroy_qp_resp destroyed;

	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_CQ, request, response), -EBUSY);
	CU_ASSERT_EQUAL(machine->call.retired.length, 0);
	CU_ASSERT_EQUAL(machine->call.retired_record.length, 0);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_QP, no_more, destroyed), 0);
	CU_ASSERT_NOT_EQUAL(machine->call.retired.length, 0);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_CQ, request, response), 0);
	CU_ASSERT_EQUAL(machine->call.retired.length, 1024);
	machine_end(machine);
}

/* Limits of a CQ, exact at both sides. */
static int64_t create_cq_of(struct machine *machine, uint32_t vector, uint8_t compressed,
			    uint32_t cqe_bytes)
{
	struct ib_uverbs_create_cq request = {.cqe = 15, .comp_channel = -1, .comp_vector = vector};
	struct ib_uverbs_create_cq_resp response;
	struct mlx5_ib_create_cq driver = {.buf_addr = RING_AREA,
					   .db_addr = RING_AREA + 0x8000,
					   .cqe_size = cqe_bytes,
					   .cqe_comp_en = compressed,
					   .cqe_comp_res_format = MLX5_IB_CQE_RES_FORMAT_HASH};
	struct mlx5_ib_create_cq_resp driver_response;

	return RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_CQ, request, driver, response,
			  driver_response);
}

static void test_flags_of_queues(void)
{
	struct machine *machine = machine_begin();

	CU_ASSERT_EQUAL(create_cq_of(machine, 7, 0, 64), 0);
	CU_ASSERT_EQUAL(create_cq_of(machine, 8, 0, 64), -EINVAL);
	CU_ASSERT_EQUAL(create_cq_of(machine, 0, 0, 128), 0);
	CU_ASSERT_EQUAL(create_cq_of(machine, 0, 1, 128), -EOPNOTSUPP);
	machine_end(machine);
}
