/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the files exist that libibverbs, perftest, UCX and hwloc read about the device, with
 * the exact text of a ConnectX-4. Links lead to one another. Writing the tree twice, or to a
 * missing folder, behaves correctly.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"

#define TESTS(TEST)      \
	TEST(infiniband) \
	TEST(ethernet)   \
	TEST(nowhere)
SUITE(TESTS)

static const char *root;

static void check(const char *name, const char *expected)
{
	char path[512], text[256] = "";
	snprintf(path, sizeof(path), "%s/%s", root, name);
	FILE *file = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL(file);
	if (file) {
		size_t length = fread(text, 1, sizeof(text) - 1, file);
		text[length] = 0;
		fclose(file);
	}
	CU_ASSERT_STRING_EQUAL(text, expected);
	if (strcmp(text, expected) != 0)
		printf("%s: %s", name, text);
}

static bool exists(const char *name)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", root, name);
	return access(path, F_OK) == 0;
}

static void write_tree(enum link_layer link_layer, const char *folder)
{
	root = folder;
	CU_ASSERT_EQUAL_FATAL(mkdir(root, 0700), 0);
	struct machine *machine = machine_create(link_layer);
	CU_ASSERT_EQUAL(kernel_write_sysfs_files(machine->kernel, root), 0);
	CU_ASSERT_EQUAL(kernel_write_sysfs_files(machine->kernel, root), 0);
	machine_destroy(machine);
}

static void test_infiniband(void)
{
	write_tree(LINK_INFINIBAND, "infiniband");
	check("sys/class/infiniband_verbs/abi_version", "6\n");
	check("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	check("sys/class/infiniband_verbs/uverbs0/abi_version", "1\n");
	check("sys/class/infiniband_verbs/uverbs0/dev", "231:192\n");
	check("sys/class/infiniband_verbs/uverbs0/device/modalias",
	      "pci:v000015B3d00001013sv000015B3sd00000033bc02sc07i00\n");
	check("sys/class/infiniband_verbs/uverbs0/device/vendor", "0x15b3\n");
	check("sys/class/infiniband/mlx5_0/device/device", "0x1013\n");
	check("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	check("sys/class/infiniband/mlx5_0/fw_ver", "12.28.2006\n");
	check("sys/class/infiniband/mlx5_0/hca_type", "MT4115\n");
	check("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	check("sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	check("sys/class/infiniband/mlx5_0/ports/1/lid", "0x1\n");
	check("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
	check("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0", "IB/RoCE v1\n");
	check("sys/class/infiniband/mlx5_0/ports/1/gids/7",
	      "0000:0000:0000:0000:0000:0000:0000:0000\n");
	check("sys/class/infiniband/mlx5_0/ports/1/pkeys/0", "0xffff\n");
	check("sys/class/infiniband/mlx5_0/ports/1/pkeys/127", "0x0000\n");
	check("sys/bus/pci/devices/0000:00:03.0/current_link_width", "16\n");
	check("sys/bus/pci/devices/0000:00:03.0/irq", "0\n");
	check("dev/infiniband/uverbs0", "");
	check("dev/infiniband/rdma_cm", "");
	check("sys/class/misc/rdma_cm/abi_version", "4\n");
	check("etc/hostname", "host0\n");
	CU_ASSERT_FALSE(exists("sys/class/net/eth0"));
}

static void test_ethernet(void)
{
	write_tree(LINK_ETHERNET, "ethernet");
	check("sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	check("sys/class/infiniband/mlx5_0/ports/1/lid", "0x0\n");
	check("sys/class/infiniband/mlx5_0/ports/1/gids/3",
	      "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
	check("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/2", "IB/RoCE v1\n");
	check("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3", "RoCE v2\n");
	check("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3", "eth0\n");
	check("sys/class/net/eth0/ifindex", "2\n");
	check("sys/class/net/eth0/device/vendor", "0x15b3\n");
}

static void test_nowhere(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);
	CU_ASSERT_EQUAL(kernel_write_sysfs_files(machine->kernel, "/dev/null"), -ENOTDIR);
	machine_destroy(machine);
}
