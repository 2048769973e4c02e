/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions: an ordinary verbs program with memory regions in memory of many kinds. It tests that
 * RDMA reads and writes the bytes that the program sees, on pages of any kind. Registration changes
 * nothing else: bytes beside a region, overlapping regions, memory after deregistration, memory
 * shared with another process, the two copies after a fork. Some memory is so large that quanta end
 * while it is moved.
 *
 * Its two queue pairs are connected to each other. It prints its checks, and exits with 0 on
 * success.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE        4096u
#define BYTES       (5 * PAGE + 100)
#define BYTES_LARGE (32u << 20)
#define ACCESS_FULL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qps[2];
static struct ibv_mr *source_mr;
static uint8_t *source;
static uint32_t turn, checks;

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(1);
}

static void need(bool good, const char *what)
{
	if (!good)
		give_up("%s failed", what);
	checks++;
}

static void connect_pairs(struct ibv_context *context)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_port_attr port;

	need(ibv_query_port(context, 1, &port) == 0, "ibv_query_port");
	for (int i = 0; i < 2; i++) {
		qps[i] = ibv_create_qp(pd, &init);
		need(qps[i] != NULL, "ibv_create_qp");
	}
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_attr attr = {
			.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS_FULL};
		need(ibv_modify_qp(qps[i], &attr,
				   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					   IBV_QP_ACCESS_FLAGS) == 0,
		     "to INIT");
		attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
					    .path_mtu = IBV_MTU_1024,
					    .dest_qp_num = qps[1 - i]->qp_num,
					    .max_dest_rd_atomic = 1,
					    .min_rnr_timer = 12,
					    .ah_attr = {.dlid = port.lid, .port_num = 1}};
		need(ibv_modify_qp(qps[i], &attr,
				   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					   IBV_QP_MIN_RNR_TIMER) == 0,
		     "to RTR");
		attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
					    .timeout = 14,
					    .retry_cnt = 7,
					    .rnr_retry = 7,
					    .max_rd_atomic = 1};
		need(ibv_modify_qp(qps[i], &attr,
				   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					   IBV_QP_MAX_QP_RD_ATOMIC) == 0,
		     "to RTS");
	}
}

static enum ibv_wc_status transfer(enum ibv_wr_opcode opcode, void *remote, uint32_t key,
				   uint32_t length)
{
	struct ibv_sge part = {(uintptr_t)source, length, source_mr->lkey};
	struct ibv_send_wr request = {.sg_list = &part,
				      .num_sge = 1,
				      .opcode = opcode,
				      .send_flags = IBV_SEND_SIGNALED,
				      .wr.rdma = {(uintptr_t)remote, key}},
			   *bad;
	struct ibv_wc completion;
	int found;

	need(ibv_post_send(qps[0], &request, &bad) == 0, "ibv_post_send");
	while ((found = ibv_poll_cq(cq, 1, &completion)) == 0)
		;
	need(found == 1, "ibv_poll_cq");
	return completion.status;
}

static uint8_t byte_at(uint32_t seed, uint32_t at)
{
	return (uint8_t)(seed * 31 + at * 7 + at / 251);
}

static void fill(uint8_t *bytes, uint32_t length, uint32_t seed)
{
	for (uint32_t i = 0; i < length; i++)
		bytes[i] = byte_at(seed, i);
}

static void expect(const uint8_t *bytes, uint32_t length, uint32_t seed, const char *what)
{
	for (uint32_t i = 0; i < length; i++)
		if (bytes[i] != byte_at(seed, i))
			give_up("%s: byte %u is %02x, expected %02x", what, i, bytes[i],
				byte_at(seed, i));
	checks++;
}

/* All bytes are in memory when the response to a later READ has arrived. An acknowledgement alone
 * does not guarantee it. */
static enum ibv_wc_status put(void *remote, uint32_t key, uint32_t length)
{
	enum ibv_wc_status status = transfer(IBV_WR_RDMA_WRITE, remote, key, length);

	return status == IBV_WC_SUCCESS ? transfer(IBV_WR_RDMA_READ, remote, key, 1) : status;
}

/* Checks both directions. The program finds the bytes that RDMA wrote, and RDMA reads the bytes
 * that the program wrote. */
static void both_ways(uint8_t *bytes, uint32_t length, uint32_t key, const char *what)
{
	fill(source, length, ++turn);
	need(put(bytes, key, length) == IBV_WC_SUCCESS, what);
	expect(bytes, length, turn, what);
	fill(bytes, length, ++turn);
	need(transfer(IBV_WR_RDMA_READ, bytes, key, length) == IBV_WC_SUCCESS, what);
	expect(source, length, turn, what);
}

static struct ibv_mr *enrol(void *bytes, uint32_t length, const char *what)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, bytes, length, ACCESS_FULL);

	need(mr != NULL, what);
	return mr;
}

/* Registers, uses and deregisters memory twice. The contents remain. */
static void try_memory(uint8_t *bytes, uint32_t length, const char *what)
{
	for (int i = 0; i < 2; i++) {
		struct ibv_mr *mr;

		fill(bytes, length, ++turn);
		mr = enrol(bytes, length, what);
		expect(bytes, length, turn, what);
		both_ways(bytes, length, mr->rkey, what);
		need(ibv_dereg_mr(mr) == 0, what);
		expect(bytes, length, turn, what);
	}
}

static uint8_t *pages(uint32_t length, int flags, int fd)
{
	uint8_t *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, fd, 0);

	need(bytes != MAP_FAILED, "mmap");
	return bytes;
}

static void try_kinds(void)
{
	uint8_t stack[BYTES], *mixed;
	FILE *file = tmpfile();
	int fd = file ? fileno(file) : -1;

	need(fd >= 0 && ftruncate(fd, 8 * PAGE) == 0, "tmpfile");
	try_memory(malloc(BYTES), BYTES, "heap");
	try_memory(stack, BYTES, "stack");
	try_memory(pages(BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1) + 33, BYTES - 33, "private pages");
	try_memory(pages(BYTES, MAP_SHARED | MAP_ANONYMOUS, -1), BYTES, "shared pages");
	try_memory(pages(BYTES, MAP_PRIVATE, fd), BYTES, "private pages of a file");
	mixed = pages(BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (uint32_t i = 1; i < 6; i += 2) /* every other page is a file's: too many pieces */
		need(mmap(mixed + i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			  fd, 0) != MAP_FAILED,
		     "mmap");
	try_memory(mixed, 3 * PAGE, "mixed pages");
	try_memory(mixed + 5 * PAGE, 100, "a part of mixed pages");
}

static void try_neighbours(void)
{
	uint8_t *block = pages(4 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct ibv_mr *first, *second;

	fill(block, 4 * PAGE, 1000);
	first = enrol(block + 100, PAGE, "the first region");
	expect(block, 4 * PAGE, 1000, "around a region");
	second = enrol(block + 200, 2 * PAGE, "the second region");
	expect(block, 4 * PAGE, 1000, "around two regions");
	both_ways(block + 100, PAGE, first->rkey, "the first region");
	both_ways(block + 200, 2 * PAGE, second->rkey, "the second region");
	need(ibv_dereg_mr(first) == 0, "ibv_dereg_mr");
	both_ways(block + 200, 2 * PAGE, second->rkey, "the region that is left");
	expect(block, 100, 1000, "in front of regions");
	need(ibv_dereg_mr(second) == 0, "ibv_dereg_mr");
	for (uint32_t i = 200 + 2 * PAGE; i < 4 * PAGE; i++)
		need(block[i] == byte_at(1000, i), "behind regions");
	need(munmap(block, 4 * PAGE) == 0, "munmap");
}

static void child(uint8_t *own, const volatile uint8_t *shared, int from, int to)
{
	char byte = 'c';

	expect(own, BYTES, 2000, "the child's copy");
	need(write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1, "a pipe"); /* RDMA meanwhile */
	expect(own, BYTES, 2000, "the child's copy after RDMA");
	expect((const uint8_t *)shared, BYTES, 2001, "shared pages after RDMA");
	fill(own, BYTES, 2002);
	need(write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1,
	     "a pipe"); /* the parent looks */
	expect(own, BYTES, 2002, "the child's copy at the end");
	_exit(0);
}

static void try_fork(void)
{
	uint8_t *own = pages(BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint8_t *shared = pages(BYTES, MAP_SHARED | MAP_ANONYMOUS, -1);
	struct ibv_mr *own_mr = enrol(own, BYTES, "private pages before a fork");
	struct ibv_mr *shared_mr = enrol(shared, BYTES, "shared pages before a fork");
	int to[2], from[2], status;
	char byte = 'p';
	pid_t pid;

	fill(own, BYTES, 2000);
	need(pipe(to) == 0 && pipe(from) == 0, "pipe");
	pid = fork();
	need(pid >= 0, "fork");
	if (pid == 0)
		child(own, shared, to[0], from[1]);
	need(read(from[0], &byte, 1) == 1, "a pipe");
	fill(source, BYTES, 2001);
	need(put(own, own_mr->rkey, BYTES) == IBV_WC_SUCCESS, "RDMA");
	need(put(shared, shared_mr->rkey, BYTES) == IBV_WC_SUCCESS, "RDMA");
	need(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1, "a pipe");
	expect(own, BYTES, 2001, "the parent's copy");
	both_ways(own, BYTES, own_mr->rkey, "the parent's copy");
	need(write(to[1], &byte, 1) == 1, "a pipe");
	need(waitpid(pid, &status, 0) == pid && status == 0, "the child");
	need(ibv_dereg_mr(own_mr) == 0 && ibv_dereg_mr(shared_mr) == 0, "ibv_dereg_mr");
}

static void fill_words(uint64_t *words, uint32_t seed)
{
	for (uint64_t i = 0; i < BYTES_LARGE / sizeof(*words); i++)
		words[i] = i * 31 + seed;
}

static void expect_words(const uint64_t *words, uint32_t seed, const char *what)
{
	for (uint64_t i = 0; i < BYTES_LARGE / sizeof(*words); i++)
		if (words[i] != i * 31 + seed)
			give_up("%s: word %lu is %lx", what, i, words[i]);
	checks++;
}

static void try_large(void)
{
	uint64_t *words = (uint64_t *)(void *)pages(BYTES_LARGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (uint32_t i = 0; i < 2; i++) {
		struct ibv_mr *mr;

		fill_words(words, ++turn);
		mr = enrol(words, BYTES_LARGE, "large pages");
		expect_words(words, turn, "large pages");
		both_ways((uint8_t *)words + BYTES_LARGE - BYTES, BYTES, mr->rkey, "large pages");
		fill_words(words, ++turn);
		need(ibv_dereg_mr(mr) == 0, "ibv_dereg_mr");
		expect_words(words, turn, "large pages that were deregistered");
	}
	need(munmap(words, BYTES_LARGE) == 0, "munmap");
}

/* Tests memory that was unmapped, which the HCA detects. */
static void try_unmapped(void)
{
	uint8_t *bytes = pages(BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct ibv_mr *mr = enrol(bytes, BYTES, "pages to be unmapped");

	both_ways(bytes, BYTES, mr->rkey, "pages to be unmapped");
	need(munmap(bytes, BYTES) == 0, "munmap");
	need(put(bytes, mr->rkey, BYTES) != IBV_WC_SUCCESS, "refusing what is unmapped");
}

/* System calls with memory beside the polled memory, a byte that arrives by RDMA. */
static void try_calls(void)
{
	enum { TURNS = 20, FROM = 1024, TO = 2048, LENGTH = 600 };
	uint8_t *page = pages(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct ibv_mr *mr = enrol(page, 64, "a polled page");
	FILE *file = tmpfile();
	int ends[2];

	need(file && pipe(ends) == 0, "pipe");
	for (uint8_t i = 1; i <= TURNS; i++) {
		struct ibv_sge part = {(uintptr_t)source, 1, source_mr->lkey};
		struct ibv_send_wr request = {.sg_list = &part,
					      .num_sge = 1,
					      .opcode = IBV_WR_RDMA_WRITE,
					      .send_flags = IBV_SEND_SIGNALED,
					      .wr.rdma = {(uintptr_t)page, mr->rkey}},
				   *bad;
		struct ibv_wc completion;

		source[0] = i;
		fill(page + FROM, LENGTH, i);
		need(ibv_post_send(qps[0], &request, &bad) == 0, "ibv_post_send");
		while (*(volatile uint8_t *)page != i)
			;
		if (i % 2) {
			need(write(ends[1], page + FROM, LENGTH) == LENGTH, "write() of it");
			need(read(ends[0], page + TO, LENGTH) == LENGTH, "read() into it");
		} else {
			need(pwrite(fileno(file), page + FROM, LENGTH, 0) == LENGTH, "pwrite()");
			while (*(volatile uint8_t *)page != i)
				;
			need(pread(fileno(file), page + TO, LENGTH, 0) == LENGTH, "pread()");
		}
		expect(page + TO, LENGTH, i, "memory given to calls");
		while (ibv_poll_cq(cq, 1, &completion) == 0)
			;
	}
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;

	need(context != NULL, "ibv_open_device");
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	source = malloc(BYTES);
	need(pd && cq && source, "ibv_create_cq");
	source_mr = enrol(source, BYTES, "the source");
	connect_pairs(context);
	try_kinds();
	try_neighbours();
	try_fork();
	try_large();
	try_calls();
	try_unmapped(); /* the queue pairs do not survive it */
	printf("memory regions are as expected (%u checks)\n", checks);
	return 0;
}
