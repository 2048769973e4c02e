/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd: a verbs program with many or large objects whose memory the library must track: separate
 * regions, completion queues, one region of gigabytes. It tests that only memory limits their
 * number, and measures their cost.
 *
 * Arguments: `regions N`, `queues N`, `large MEGABYTES`. It prints its actions, and exits with 0 on
 * success.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE   4096u
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

static struct ibv_context *context;
static struct ibv_pd *pd;

static uint8_t *pages(size_t length)
{
	uint8_t *bytes =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return bytes;
}

/* Every other page is a region, so that regions are never adjacent. */
static int regions(unsigned count)
{
	struct ibv_mr **mrs = calloc(count, sizeof(*mrs));
	uint8_t *block = pages((size_t)count * 2 * PAGE);
	struct ibv_cq *cq;

	for (unsigned i = 0; i < count; i++) {
		block[(size_t)i * 2 * PAGE] = (uint8_t)(i % 251);
		mrs[i] = ibv_reg_mr(pd, block + (size_t)i * 2 * PAGE, PAGE, ACCESS);
		if (!mrs[i]) {
			fprintf(stderr, "region %u: %m\n", i);
			return 1;
		}
	}
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	if (!cq || ibv_poll_cq(cq, 1, &(struct ibv_wc){0}) != 0)
		return 2;
	for (unsigned i = 0; i < count; i++)
		if (block[(size_t)i * 2 * PAGE] != i % 251)
			return 3;
	for (unsigned i = 0; i < count; i++)
		if (ibv_dereg_mr(mrs[i]) != 0 || block[(size_t)i * 2 * PAGE] != i % 251)
			return 4;
	printf("%u regions\n", count);
	return 0;
}

static int queues(unsigned count)
{
	struct ibv_cq **cqs = calloc(count, sizeof(*cqs));

	for (unsigned i = 0; i < count; i++) {
		cqs[i] = ibv_create_cq(context, 1, NULL, NULL, 0);
		if (!cqs[i]) {
			fprintf(stderr, "completion queue %u: %m\n", i);
			return 1;
		}
	}
	for (unsigned i = 0; i < count; i++)
		if (ibv_poll_cq(cqs[i], 1, &(struct ibv_wc){0}) != 0)
			return 2;
	for (unsigned i = 0; i < count; i++)
		if (ibv_destroy_cq(cqs[i]) != 0)
			return 3;
	printf("%u queues\n", count);
	return 0;
}

/* Returns the maximum resident size so far. The machine's file covers the whole process. */
static size_t peak(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	size_t kilobytes = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %zu", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes << 10;
}

/* Checks that pages never exist twice, not even during their move. */
static int large(unsigned megabytes)
{
	size_t length = (size_t)megabytes << 20;
	uint8_t *block = pages(length);
	struct ibv_mr *mr;

	for (size_t at = 0; at < length; at += PAGE)
		block[at] = (uint8_t)(at / PAGE % 251);
	mr = ibv_reg_mr(pd, block, length, ACCESS);
	if (!mr)
		return 1;
	for (size_t at = 0; at < length; at += PAGE)
		if (block[at] != (uint8_t)(at / PAGE % 251))
			return 2;
	if (ibv_dereg_mr(mr) != 0)
		return 3;
	for (size_t at = 0; at < length; at += PAGE)
		if (block[at] != (uint8_t)(at / PAGE % 251))
			return 4;
	if (peak() > length + length / 8 + (32u << 20)) {
		fprintf(stderr, "%zu bytes were resident for %zu\n", peak(), length);
		return 5;
	}
	printf("%u megabytes\n", megabytes);
	return 0;
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned number = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd || argc < 3)
		return 99;
	if (strcmp(argv[1], "regions") == 0)
		return regions(number);
	if (strcmp(argv[1], "queues") == 0)
		return queues(number);
	return large(number);
}
