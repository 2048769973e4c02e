/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests netlink of RDMA: responses, byte for byte, to the requests of `rdma dev`, `rdma link`,
 * `rdma resource`, `rdma system` and libibverbs. Covers both link layers. Other requests get the
 * errors of a kernel.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"
#include "verbs-shim/kernel/netlink.h"

#define TESTS(TEST)     \
	TEST(dump)      \
	TEST(ports)     \
	TEST(resources) \
	TEST(lists)     \
	TEST(devices)   \
	TEST(system)    \
	TEST(errors)
SUITE(TESTS)

enum { REQUEST = NLM_F_REQUEST, DUMP = NLM_F_REQUEST | NLM_F_DUMP };

static struct machine *machine;
static int32_t number;

static void begin(enum link_layer link_layer)
{
	machine = machine_create(link_layer);
	machine->process.pid = 1007;
	machine->call = (struct kernel_call){.process = &machine->process};
	kernel_open(machine->kernel, &machine->call, NETLINK_NODE, 0);
	CU_ASSERT_EQUAL_FATAL(machine->call.file_count, 1);
	CU_ASSERT_EQUAL(machine->call.files[0].kind, KERNEL_FD_NETLINK);
	number = FILES_MAX - 1;
	machine->files[number] = machine->call.files[0].file;
}

static void end(void)
{
	machine_close(machine, number);
	machine_destroy(machine);
}

/* Sends a request. Its attributes are given as bytes, with their headers. */
static int64_t ask(uint16_t type, uint16_t flags, const void *attributes, uint32_t length)
{
	struct nlmsghdr header = {.nlmsg_len = (uint32_t)sizeof(header) + length,
				  .nlmsg_type = type,
				  .nlmsg_flags = flags,
				  .nlmsg_seq = 0x01020304};

	memory_write(machine->process.memory, CALL_AREA, &header, sizeof(header));
	memory_write(machine->process.memory, CALL_AREA + sizeof(header), attributes, length);
	machine->pipes[number].length = 0;
	machine->call = (struct kernel_call){.process = &machine->process};
	kernel_write(machine->files[number], &machine->call, CALL_AREA, header.nlmsg_len);
	CU_ASSERT_EQUAL(machine->call.result, header.nlmsg_len);
	CU_ASSERT_EQUAL(machine->call.latency, 300 * NS);
	return machine->pipes[number].length;
}

static uint16_t nldev(uint16_t command)
{
	return RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
}

/* Returns the received bytes from `at` on. */
static const uint8_t *came(uint32_t at)
{
	return machine->pipes[number].bytes + at;
}

static struct nlmsghdr header_at(uint32_t at)
{
	struct nlmsghdr header;

	memcpy(&header, came(at), sizeof(header));
	return header;
}

/* Returns the value of an attribute of the message at `at`, or NULL if the message lacks it. */
static const void *value(uint32_t at, uint16_t type, uint16_t length)
{
	uint32_t stop = at + header_at(at).nlmsg_len;

	for (at += (uint32_t)sizeof(struct nlmsghdr); at < stop;) {
		struct nlattr attribute;

		memcpy(&attribute, came(at), sizeof(attribute));
		if (attribute.nla_type == type) {
			CU_ASSERT_EQUAL(attribute.nla_len, sizeof(attribute) + length);
			return came(at) + sizeof(attribute);
		}
		at += (attribute.nla_len + 3U) / 4 * 4;
	}
	return NULL;
}

static uint64_t number_of(uint16_t type, uint16_t length)
{
	const void *bytes = value(0, type, length);
	uint64_t found = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	memcpy(&found, bytes, length);
	return found;
}

#define U8(name)  number_of(RDMA_NLDEV_ATTR_##name, 1)
#define U32(name) number_of(RDMA_NLDEV_ATTR_##name, 4)
#define U64(name) number_of(RDMA_NLDEV_ATTR_##name, 8)
#define TEXT(name, text) \
	CU_ASSERT_STRING_EQUAL((const char *)value(0, RDMA_NLDEV_ATTR_##name, sizeof(text)), text)
#define ABSENT(name) CU_ASSERT_PTR_NULL(value(0, RDMA_NLDEV_ATTR_##name, 0))

static const uint8_t index_0[] = {8, 0, 1, 0, 0, 0, 0, 0}, index_1[] = {8, 0, 1, 0, 1, 0, 0, 0};
static const uint8_t port_1[] = {8, 0, 1, 0, 0, 0, 0, 0, 8, 0, 3, 0, 1, 0, 0, 0};

/* Lists all devices, and checks the end of the list. */
static void test_dump(void)
{
	begin(LINK_INFINIBAND);
	uint64_t guid = endpoints_get(machine->endpoints, 0)->guid;
	int64_t length = ask(nldev(RDMA_NLDEV_CMD_GET), DUMP | NLM_F_ACK, NULL, 0);
	struct nlmsghdr first = header_at(0), last = header_at(first.nlmsg_len);

	CU_ASSERT_EQUAL(first.nlmsg_type, 0x1401);
	CU_ASSERT_EQUAL(first.nlmsg_flags, NLM_F_MULTI);
	CU_ASSERT_EQUAL(first.nlmsg_seq, 0x01020304);
	CU_ASSERT_EQUAL(first.nlmsg_pid, 1007);
	CU_ASSERT_EQUAL(U32(DEV_INDEX), 0);
	TEXT(DEV_NAME, "mlx5_0");
	CU_ASSERT_EQUAL(U32(PORT_INDEX), 1);
	TEXT(FW_VERSION, "12.28.2006");
	CU_ASSERT_EQUAL(U64(NODE_GUID), guid);
	CU_ASSERT_EQUAL(U64(SYS_IMAGE_GUID), guid);
	CU_ASSERT_EQUAL(U8(DEV_NODE_TYPE), 1);
	TEXT(DEV_PROTOCOL, "ib");
	CU_ASSERT_EQUAL(last.nlmsg_type, NLMSG_DONE);
	CU_ASSERT_EQUAL(last.nlmsg_len, 20);
	CU_ASSERT_EQUAL(length, first.nlmsg_len + 20);
	CU_ASSERT_EQUAL(memcmp(came(first.nlmsg_len + 16), "\0\0\0\0", 4), 0);

	/* A request for one device ends with an acknowledgement on request, and not with such a
	 * message. */
	CU_ASSERT_EQUAL(ask(nldev(RDMA_NLDEV_CMD_GET), REQUEST, index_0, sizeof(index_0)),
			first.nlmsg_len);
	CU_ASSERT_EQUAL(header_at(0).nlmsg_flags, 0);
	CU_ASSERT_EQUAL(
		ask(nldev(RDMA_NLDEV_CMD_GET), REQUEST | NLM_F_ACK, index_0, sizeof(index_0)),
		first.nlmsg_len + 36);
	CU_ASSERT_EQUAL(header_at(first.nlmsg_len).nlmsg_type, NLMSG_ERROR);
	CU_ASSERT_EQUAL(memcmp(came(first.nlmsg_len + 16), "\0\0\0\0", 4), 0);
	end();
}

static void test_ports(void)
{
	begin(LINK_INFINIBAND);
	ask(nldev(RDMA_NLDEV_CMD_PORT_GET), DUMP, index_0, sizeof(index_0));
	CU_ASSERT_EQUAL(U32(PORT_INDEX), 1);
	CU_ASSERT_EQUAL(U64(CAP_FLAGS), 0x14848);
	CU_ASSERT_EQUAL(U64(SUBNET_PREFIX), UINT64_C(0xfe80000000000000));
	CU_ASSERT_EQUAL(U32(LID), 1);
	CU_ASSERT_EQUAL(U32(SM_LID), 1);
	CU_ASSERT_EQUAL(U8(LMC), 0);
	CU_ASSERT_EQUAL(U8(PORT_STATE), 4);
	CU_ASSERT_EQUAL(U8(PORT_PHYS_STATE), 5);
	ABSENT(NDEV_NAME);
	end();

	begin(LINK_ETHERNET);
	ask(nldev(RDMA_NLDEV_CMD_PORT_GET), REQUEST, port_1, sizeof(port_1));
	CU_ASSERT_EQUAL(U32(PORT_INDEX), 1);
	ABSENT(LID);
	ABSENT(CAP_FLAGS);
	CU_ASSERT_EQUAL(U8(PORT_STATE), 4);
	CU_ASSERT_EQUAL(U32(NDEV_INDEX), 2);
	TEXT(NDEV_NAME, "eth0");
	ask(nldev(RDMA_NLDEV_CMD_GET), DUMP, NULL, 0);
	TEXT(DEV_PROTOCOL, "roce");
	end();
}

/* Checks an entry of the summary: its name and number. */
static void check_count(uint32_t place, const char *name, uint64_t count)
{
	const uint8_t *at = (const uint8_t *)value(0, RDMA_NLDEV_ATTR_RES_SUMMARY, 172);
	uint64_t found;

	for (uint32_t i = 0; i < place; i++)
		at += (at[0] + 3) / 4 * 4;
	CU_ASSERT_STRING_EQUAL(at + 8, name);
	memcpy(&found, at + at[0] - 8, sizeof(found));
	CU_ASSERT_EQUAL(found, count);
}

static void test_resources(void)
{
	uint32_t key, cqn;

	begin(LINK_INFINIBAND);
	machine_open(machine, &machine->process, true);
	machine_open(machine, &machine->other, true);
	make_mr(machine, make_pd(machine), &key);
	make_cq(machine, -1, 0, &cqn);
	make_cq(machine, -1, 0, &cqn);
	ask(nldev(RDMA_NLDEV_CMD_RES_GET), DUMP, NULL, 0);
	check_count(0, "pd", 1);
	check_count(1, "cq", 2);
	check_count(2, "qp", 0);
	check_count(3, "cm_id", 0);
	check_count(4, "mr", 1);
	check_count(5, "ctx", 2);
	check_count(6, "srq", 0);
	end();
}

static int32_t error_of(uint16_t type, uint16_t flags, const void *attributes, uint32_t length)
{
	int32_t error;

	CU_ASSERT_EQUAL(ask(type, flags, attributes, length), 36);
	CU_ASSERT_EQUAL(header_at(0).nlmsg_type, NLMSG_ERROR);
	memcpy(&error, came(16), sizeof(error));
	CU_ASSERT_EQUAL(memcmp(came(20 + 4), &type, sizeof(type)), 0);
	return error;
}

/* Lists fifteen objects of each of two processes. They come with their names, in the order of
 * creation, in as many messages as needed. */
static void test_lists(void)
{
	uint32_t key, cqn, seen = 0, messages = 0, stop, first_cqn = 0;

	begin(LINK_INFINIBAND);
	machine->other.pid = 1008;
	machine_open(machine, &machine->process, true);
	uint32_t pd = make_pd(machine);
	make_mr(machine, pd, &key);
	for (int i = 0; i < 15; i++) {
		make_cq(machine, -1, 0, &cqn);
		first_cqn = first_cqn ? first_cqn : cqn;
	}
	machine_open(machine, &machine->other, true);
	for (int i = 0; i < 15; i++)
		make_cq(machine, -1, 0, &cqn);
	stop = (uint32_t)ask(nldev(RDMA_NLDEV_CMD_RES_CQ_GET), DUMP, index_0, sizeof(index_0));
	for (uint32_t at = 0; at < stop; at += header_at(at).nlmsg_len) {
		if (header_at(at).nlmsg_type == NLMSG_DONE) {
			CU_ASSERT_EQUAL(at + 20, stop);
			break;
		}
		messages++;
		/* index 8 bytes, name 12 with its header, then the table of entries of 40 bytes */
		for (uint32_t in = at + 16 + 8 + 12 + 4; in < at + header_at(at).nlmsg_len;
		     in += 40, seen++) {
			static const uint8_t head[] = {40, 0, RDMA_NLDEV_ATTR_RES_CQ_ENTRY, 0,
						       8,  0, RDMA_NLDEV_ATTR_RES_CQE,      0};
			uint32_t number_at, pid;

			CU_ASSERT_EQUAL(memcmp(came(in), head, sizeof(head)), 0);
			memcpy(&number_at, came(in + 4 + 8 + 12 + 4), sizeof(number_at));
			memcpy(&pid, came(in + 4 + 8 + 12 + 8 + 4), sizeof(pid));
			CU_ASSERT_EQUAL(number_at, first_cqn + seen);
			CU_ASSERT_EQUAL(pid, seen < 15 ? 1007 : 1008);
		}
	}
	CU_ASSERT_EQUAL(seen, 30);
	CU_ASSERT_EQUAL(messages, 2);

	uint32_t by_key[] = {0x10008, 0, RDMA_NLDEV_ATTR_RES_MRN << 16 | 8, key >> 8};
	ask(nldev(RDMA_NLDEV_CMD_RES_MR_GET), REQUEST, by_key, sizeof(by_key));
	CU_ASSERT_EQUAL(U32(RES_RKEY), key);
	CU_ASSERT_EQUAL(U32(RES_LKEY), key);
	CU_ASSERT_EQUAL(U32(RES_PID), 1007);
	CU_ASSERT_NOT_EQUAL(U64(RES_MRLEN), 0);
	by_key[3]++;
	CU_ASSERT_EQUAL(error_of(nldev(RDMA_NLDEV_CMD_RES_MR_GET), REQUEST, by_key, sizeof(by_key)),
			-ENOENT);
	CU_ASSERT_EQUAL(error_of(nldev(RDMA_NLDEV_CMD_RES_MR_GET), REQUEST, by_key, 8), -EINVAL);
	end();
}

/* Numbers of the files, as in sysfs_files.c. */
static void test_devices(void)
{
	static const uint8_t verbs[] = "\x08\0\x01\0\0\0\0\0\x0b\0\x45\0uverbs",
			     cm[] = "\x0c\0\x45\0rdma_cm", other[] = "\x09\0\x45\0umad";
	uint16_t type = nldev(RDMA_NLDEV_CMD_GET_CHARDEV);

	begin(LINK_INFINIBAND);
	CU_ASSERT_EQUAL(RDMA_NLDEV_ATTR_CHARDEV_TYPE, 0x45);
	ask(type, REQUEST, verbs, sizeof(verbs));
	CU_ASSERT_EQUAL(U64(CHARDEV), 0xe7c0);
	CU_ASSERT_EQUAL(U64(CHARDEV_ABI), 1);
	CU_ASSERT_EQUAL(U32(UVERBS_DRIVER_ID), 1);
	TEXT(CHARDEV_NAME, "uverbs0");
	ask(type, REQUEST, cm, sizeof(cm));
	CU_ASSERT_EQUAL(U64(CHARDEV), 0x0a3a);
	CU_ASSERT_EQUAL(U64(CHARDEV_ABI), 4);
	TEXT(CHARDEV_NAME, "rdma_cm");
	CU_ASSERT_EQUAL(ask(type, REQUEST, other, sizeof(other)), 36);
	end();
}

static void test_system(void)
{
	begin(LINK_INFINIBAND);
	ask(nldev(RDMA_NLDEV_CMD_SYS_GET), REQUEST, NULL, 0);
	CU_ASSERT_EQUAL(number_of(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1), 1);
	CU_ASSERT_EQUAL(number_of(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1), 1);
	end();
}

static void test_errors(void)
{
	static const uint8_t too_long[] = {9, 0, 1, 0, 0, 0, 0, 0},
			     short_index[] = {6, 0, 1, 0, 0, 0, 0, 0};
	static const uint8_t port_2[] = {8, 0, 1, 0, 0, 0, 0, 0, 8, 0, 3, 0, 2, 0, 0, 0};
	uint16_t get = nldev(RDMA_NLDEV_CMD_GET), port = nldev(RDMA_NLDEV_CMD_PORT_GET);

	begin(LINK_INFINIBAND);
	CU_ASSERT_EQUAL(error_of(get, REQUEST, NULL, 0), -EINVAL);
	CU_ASSERT_EQUAL(error_of(get, REQUEST, index_1, sizeof(index_1)), -ENODEV);
	CU_ASSERT_EQUAL(error_of(get, REQUEST, too_long, sizeof(too_long)), -EINVAL);
	CU_ASSERT_EQUAL(error_of(get, REQUEST, short_index, sizeof(short_index)), -EINVAL);
	CU_ASSERT_EQUAL(error_of(port, DUMP, NULL, 0), -EINVAL);
	CU_ASSERT_EQUAL(error_of(port, REQUEST, index_0, sizeof(index_0)), -EINVAL);
	CU_ASSERT_EQUAL(error_of(port, REQUEST, port_2, sizeof(port_2)), -EINVAL);
	CU_ASSERT_EQUAL(error_of(nldev(RDMA_NLDEV_NUM_OPS), REQUEST, NULL, 0), -EINVAL);
	CU_ASSERT_EQUAL(error_of(RDMA_NL_GET_TYPE(RDMA_NL_LS, 0), REQUEST, NULL, 0), -EINVAL);
	CU_ASSERT_EQUAL(machine->refused_count, 0);
	CU_ASSERT_EQUAL(error_of(nldev(RDMA_NLDEV_CMD_STAT_SET), REQUEST, NULL, 0), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(machine->refused_count, 1);

	/* Checks that nothing comes back if there is no request or no message. */
	CU_ASSERT_EQUAL(ask(get, 0, index_0, sizeof(index_0)), 0);
	machine->call = (struct kernel_call){.process = &machine->process};
	kernel_write(machine->files[number], &machine->call, CALL_AREA, 8);
	CU_ASSERT_EQUAL(machine->call.result, 8);
	kernel_write(machine->files[number], &machine->call, 0x10, 24);
	CU_ASSERT_EQUAL(machine->call.result, -EFAULT);
	CU_ASSERT_EQUAL(machine->pipes[number].length, 0);
	end();
}
