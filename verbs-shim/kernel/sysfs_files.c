/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs_files: files about the device below /sys and /dev: class/infiniband,
 * class/infiniband_verbs, the PCI function and, for RoCE, its network interface. Also files below
 * /proc and /etc that distinguish hosts. Links are symbolic links, because user space follows them.
 *
 *     <directory>/sys/devices/pci0000:00/0000:00:03.0/{vendor,device,...,infiniband/@,...}
 *     <directory>/sys/class/infiniband/@, infiniband_verbs/uverbs0
 *     <directory>/dev/infiniband/uverbs0
 *
 * "@" is mlx5_0 or siw0. The last one is an ordinary file. The session makes it look like a
 * character device.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <rdma/siw-abi.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hca/device/hca.h"
#include "hca/device/hca_params.h"
#include "hca/device/hw_counters.h"
#include "verbs-shim/kernel/cm.h"
#include "verbs-shim/kernel/device.h"
#include "verbs-shim/kernel/internal.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/siw.h"

#define PCI_FUNCTION     "0000:00:03.0"
#define PCI_FOLDER       "sys/devices/pci0000:00/" PCI_FUNCTION
#define BAR0             UINT64_C(0x2000000000)
#define BAR0_BYTES       (32 << 20)
#define IB_FOLDER        PCI_FOLDER "/infiniband/@"
#define PORT_FOLDER      IB_FOLDER "/ports/1"
#define VERBS_FOLDER     PCI_FOLDER "/infiniband_verbs/uverbs0"
#define INTERFACE_FOLDER PCI_FOLDER "/net/" NETWORK_INTERFACE

struct sysfs_files {
	const struct kernel *kernel;
	const char *directory;
	int error;
};

/* Copies a name in which "@" stands for the device. */
static int copy_name(const struct sysfs_files *files, char text[PATH_MAX], const char *name)
{
	const char *at = strchr(name, '@');

	if (!at)
		return snprintf(text, PATH_MAX, "%s", name);
	return snprintf(text, PATH_MAX, "%.*s%s%s", (int)(at - name), name,
			device_name(files->kernel), at + 1);
}

static bool full_path(struct sysfs_files *files, char path[PATH_MAX], const char *name)
{
	char own[PATH_MAX];
	int length = copy_name(files, own, name);

	if (length < PATH_MAX)
		length = snprintf(path, PATH_MAX, "%s/%s", files->directory, own);
	if (length >= PATH_MAX && !files->error)
		files->error = -ENAMETOOLONG;
	return !files->error;
}

static void make_parents(struct sysfs_files *files, char path[PATH_MAX])
{
	for (char *slash = path + 1; *slash && !files->error; slash++) {
		if (*slash != '/')
			continue;
		*slash = 0;
		if (mkdir(path, 0755) && errno != EEXIST)
			files->error = -errno;
		*slash = '/';
	}
}

/* name | contents: one line, or none at all. */
__attribute__((format(printf, 3, 4))) static void put(struct sysfs_files *files, const char *name,
						      const char *format, ...)
{
	char path[PATH_MAX];
	if (!full_path(files, path, name))
		return;
	make_parents(files, path);
	if (files->error)
		return;
	FILE *file = fopen(path, "w");
	if (!file) {
		files->error = -errno;
		return;
	}
	va_list arguments;
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	if (fclose(file))
		files->error = -errno;
}

static void put_bytes(struct sysfs_files *files, const char *name, const uint8_t *bytes,
		      size_t count)
{
	char path[PATH_MAX];

	put(files, name, "%s", "");
	if (files->error || !full_path(files, path, name))
		return;
	FILE *file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, count, file) != count)
		files->error = -errno;
	if (file && fclose(file))
		files->error = -errno;
}

static void put_link(struct sysfs_files *files, const char *name, const char *target)
{
	char path[PATH_MAX], own[PATH_MAX];
	if (!full_path(files, path, name) || copy_name(files, own, target) >= PATH_MAX)
		return;
	make_parents(files, path);
	if (!files->error && symlink(own, path) && errno != EEXIST)
		files->error = -errno;
}

static void guid_text(char text[20], uint64_t guid)
{
	snprintf(text, 20, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48),
		 (unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
		 (unsigned)(guid & 0xffff));
}

static void gid_text(char text[40], const uint8_t gid[16])
{
	for (int i = 0; i < 8; i++)
		snprintf(text + 5 * i, 6, "%02x%02x%s", gid[2 * i], gid[2 * i + 1],
			 i < 7 ? ":" : "");
}

/* Return the PCI vendor and device. An iWARP adapter is of no vendor, so that no library but libsiw
 * accepts it. */
static unsigned pci_vendor(const struct kernel *kernel)
{
	return siw_rnic(kernel) ? 0xfffe : 0x15b3;
}

static unsigned pci_device(const struct kernel *kernel)
{
	return siw_rnic(kernel) ? 1 : limits_of_device.vendor_part_id;
}

/* Writes the PCI function's BAR 0 and its configuration space (PCI Local Bus Specification 3.0,
 * 6.1), without capabilities. */
static void pci_registers(struct sysfs_files *files)
{
	const uint32_t device = pci_device(files->kernel), vendor = pci_vendor(files->kernel);
	const uint32_t words[] = {
		device << 16 | vendor, /* device, vendor */
		0x00000406,            /* status; INTx off, bus master, memory */
		0x02070000,            /* class, revision */
		0x00000010,            /* header type 0; cache line of 64 B */
		(uint32_t)BAR0 | 0xc,  /* prefetchable, 64 bits */
		(uint32_t)(BAR0 >> 32),
		0,
		0,
		0,
		0,
		0,
		0x0033 << 16 | vendor, /* subsystem */
	};
	uint8_t space[256] = {0};

	for (size_t i = 0; i < sizeof(words); i++)
		space[i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
	put_bytes(files, PCI_FOLDER "/config", space, sizeof(space));
	static const char none[] = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
	put(files, PCI_FOLDER "/resource", "0x%016llx 0x%016llx 0x%016llx\n%s%s%s%s%s%s",
	    (unsigned long long)BAR0, (unsigned long long)(BAR0 + BAR0_BYTES - 1),
	    0x14220cULL /* IORESOURCE_MEM, PREFETCH, SIZEALIGN, MEM_64 and the BAR's own bits */,
	    none, none, none, none, none, none);
	put(files, PCI_FOLDER "/irq", "0\n");
}

/* Writes the PCI link of hca.pcie. UCX selects protocols by it. */
static void pci_link(struct sysfs_files *files)
{
	static const char *const speeds[] = {"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
	const struct pcie_params *pcie = &hca_params(files->kernel->hca)->pcie;

	assert(pcie->generation < sizeof(speeds) / sizeof(speeds[0]));
	put(files, PCI_FOLDER "/current_link_speed", "%s GT/s PCIe\n", speeds[pcie->generation]);
	put(files, PCI_FOLDER "/max_link_speed", "%s GT/s PCIe\n", speeds[pcie->generation]);
	put(files, PCI_FOLDER "/current_link_width", "%u\n", (unsigned)pcie->lanes);
	put(files, PCI_FOLDER "/max_link_width", "%u\n", (unsigned)pcie->lanes);
}

static void pci(struct sysfs_files *files)
{
	const unsigned vendor = pci_vendor(files->kernel), device = pci_device(files->kernel);

	pci_registers(files);
	put(files, PCI_FOLDER "/vendor", "0x%04x\n", vendor);
	put(files, PCI_FOLDER "/device", "0x%04x\n", device);
	put(files, PCI_FOLDER "/subsystem_vendor", "0x%04x\n", vendor);
	put(files, PCI_FOLDER "/subsystem_device", "0x0033\n");
	put(files, PCI_FOLDER "/revision", "0x00\n");
	put(files, PCI_FOLDER "/class", "0x020700\n");
	put(files, PCI_FOLDER "/modalias", "pci:v%08Xd%08Xsv%08Xsd00000033bc02sc07i00\n", vendor,
	    device, vendor);
	put(files, PCI_FOLDER "/uevent",
	    "DRIVER=%s\nPCI_CLASS=20700\nPCI_ID=%04X:%04X\nPCI_SLOT_NAME=%s\n",
	    siw_rnic(files->kernel) ? "siw" : "mlx5_core", vendor, device, PCI_FUNCTION);
	put(files, PCI_FOLDER "/numa_node", "%llu\n",
	    (unsigned long long)files->kernel->params.numa_node);
	put(files, PCI_FOLDER "/local_cpus", "00000003\n");
	put(files, PCI_FOLDER "/local_cpulist", "0-1\n");
	pci_link(files);
	put_link(files, "sys/bus/pci/devices/" PCI_FUNCTION,
		 "../../../devices/pci0000:00/" PCI_FUNCTION);
}

static void device(struct sysfs_files *files)
{
	const struct endpoint *endpoint = kernel_endpoint(files->kernel);
	char guid[20];
	guid_text(guid, endpoint->guid);
	put(files, IB_FOLDER "/node_type", "%s\n", siw_rnic(files->kernel) ? "4: RNIC" : "1: CA");
	put(files, IB_FOLDER "/node_guid", "%s\n", guid);
	put(files, IB_FOLDER "/sys_image_guid", "%s\n", guid);
	put(files, IB_FOLDER "/node_desc", "%s %s\n", endpoint->name, device_name(files->kernel));
	put(files, IB_FOLDER "/fw_ver", "%d.%d.%04d\n", FIRMWARE_MAJOR, FIRMWARE_MINOR,
	    FIRMWARE_PATCH);
	put(files, IB_FOLDER "/hca_type", "%s\n",
	    siw_rnic(files->kernel) ? "Software iWARP stack" : HCA_TYPE);
	put(files, IB_FOLDER "/hw_rev", "0\n");
	if (!siw_rnic(files->kernel))
		put(files, IB_FOLDER "/board_id", "%s\n", BOARD_ID);
	put_link(files, IB_FOLDER "/device", "../../../" PCI_FUNCTION);
	put_link(files, "sys/class/infiniband/@",
		 "../../devices/pci0000:00/" PCI_FUNCTION "/infiniband/@");
}

static void verbs(struct sysfs_files *files)
{
	put(files, "sys/class/infiniband_verbs/abi_version", "%d\n", IB_USER_VERBS_ABI_VERSION);
	put(files, VERBS_FOLDER "/dev", "%d:%d\n", VERBS_MAJOR, VERBS_MINOR);
	put(files, VERBS_FOLDER "/ibdev", "%s\n", device_name(files->kernel));
	put(files, VERBS_FOLDER "/abi_version", "%d\n",
	    siw_rnic(files->kernel) ? SIW_ABI_VERSION : MLX5_IB_UVERBS_ABI_VERSION);
	put(files, VERBS_FOLDER "/uevent", "MAJOR=%d\nMINOR=%d\nDEVNAME=infiniband/uverbs0\n",
	    VERBS_MAJOR, VERBS_MINOR);
	put_link(files, VERBS_FOLDER "/device", "../../../" PCI_FUNCTION);
	put_link(files, "sys/class/infiniband_verbs/uverbs0",
		 "../../devices/pci0000:00/" PCI_FUNCTION "/infiniband_verbs/uverbs0");
	put(files, "dev/infiniband/uverbs0", "%s", "");
}

static void connection_manager(struct sysfs_files *files)
{
	put(files, "sys/class/misc/rdma_cm/abi_version", "%d\n", RDMA_USER_CM_ABI_VERSION);
	put(files, "sys/class/misc/rdma_cm/dev", "%d:%d\n", CM_MAJOR, CM_MINOR);
	put(files, "dev/infiniband/rdma_cm", "%s", "");
}

static void gids(struct sysfs_files *files)
{
	const struct endpoint *endpoint = kernel_endpoint(files->kernel);
	bool ethernet = endpoint->link_layer == LINK_ETHERNET;
	for (uint32_t i = 0; i < device_gid_table_length(files->kernel); i++) {
		static const struct endpoint_gid none;
		bool used = i < endpoint->gid_count;
		const struct endpoint_gid *gid = used ? &endpoint->gids[i] : &none;
		char name[100], text[40];
		gid_text(text, gid->bytes);
		snprintf(name, sizeof(name), PORT_FOLDER "/gids/%u", i);
		put(files, name, "%s\n", text);
		if (!used)
			continue;
		snprintf(name, sizeof(name), PORT_FOLDER "/gid_attrs/types/%u", i);
		put(files, name, "%s\n",
		    ethernet && gid->roce_version != ROCE_V1 ? "RoCE v2" : "IB/RoCE v1");
		if (ethernet) {
			snprintf(name, sizeof(name), PORT_FOLDER "/gid_attrs/ndevs/%u", i);
			put(files, name, NETWORK_INTERFACE "\n");
		}
	}
	for (uint32_t i = 0; i < device_pkey_table_length(files->kernel); i++) {
		char name[100];
		snprintf(name, sizeof(name), PORT_FOLDER "/pkeys/%u", i);
		put(files, name, "0x%04x\n", device_pkey(files->kernel, i));
	}
}

static void put_counters(struct sysfs_files *files)
{
	const struct kernel *kernel = files->kernel;
	bool roce = kernel_endpoint(kernel)->link_layer == LINK_ETHERNET;

	for (const struct hw_counter *counter = hw_counters; counter->name; counter++) {
		char name[100];

		if (counter->of_roce && !roce)
			continue;
		snprintf(name, sizeof(name), PORT_FOLDER "/%s/%s",
			 counter->of_port ? "counters" : "hw_counters", counter->name);
		put(files, name, "%llu\n",
		    kernel->hca ? (unsigned long long)counter->value(kernel->hca) : 0);
	}
}

int kernel_write_counters(const struct kernel *kernel, const char *directory)
{
	struct sysfs_files files = {.kernel = kernel, .directory = directory};

	put_counters(&files);
	return files.error;
}

static void port(struct sysfs_files *files)
{
	struct ib_uverbs_query_port_resp state;
	char rate[40];
	int error = device_port(files->kernel, 1, &state);
	assert(!error);
	device_rate_text(files->kernel, rate, sizeof(rate));
	put(files, PORT_FOLDER "/state", "4: ACTIVE\n");
	put(files, PORT_FOLDER "/phys_state", "5: LinkUp\n");
	put(files, PORT_FOLDER "/rate", "%s\n", rate);
	put(files, PORT_FOLDER "/lid", "0x%x\n", state.lid);
	put(files, PORT_FOLDER "/sm_lid", "0x%x\n", state.sm_lid);
	put(files, PORT_FOLDER "/lid_mask_count", "%u\n", state.lmc);
	put(files, PORT_FOLDER "/sm_sl", "%u\n", state.sm_sl);
	put(files, PORT_FOLDER "/cap_mask", "0x%08x\n", state.port_cap_flags);
	put(files, PORT_FOLDER "/link_layer", "%s\n",
	    state.link_layer == 2 ? "Ethernet" : "InfiniBand");
	gids(files);
}

static void network_interface(struct sysfs_files *files)
{
	const struct endpoint *endpoint = kernel_endpoint(files->kernel);
	const uint8_t *mac = endpoint->mac;
	if (endpoint->link_layer != LINK_ETHERNET)
		return;
	put(files, INTERFACE_FOLDER "/ifindex", "%d\n", NETWORK_INTERFACE_INDEX);
	put(files, INTERFACE_FOLDER "/mtu", "%u\n", files->kernel->interface_mtu);
	put(files, INTERFACE_FOLDER "/operstate", "up\n");
	put(files, INTERFACE_FOLDER "/address", "%02x:%02x:%02x:%02x:%02x:%02x\n", mac[0], mac[1],
	    mac[2], mac[3], mac[4], mac[5]);
	put(files, INTERFACE_FOLDER "/dev_port", "0\n");
	put_link(files, INTERFACE_FOLDER "/device", "../../../" PCI_FUNCTION);
	put_link(files, "sys/class/net/" NETWORK_INTERFACE,
		 "../../devices/pci0000:00/" PCI_FUNCTION "/net/" NETWORK_INTERFACE);
}

/* Writes the identity of the host. UCX compares it before it uses shared memory. */
static void host(struct sysfs_files *files)
{
	const struct endpoint *endpoint = kernel_endpoint(files->kernel);
	uint64_t id = endpoint->guid;

	put(files, "proc/sys/kernel/random/boot_id", "%08x-%04x-4000-8000-%012llx\n",
	    (unsigned)(id >> 32), (unsigned)(id >> 16 & 0xffff),
	    (unsigned long long)(id & 0xffffffffffff));
	put(files, "proc/sys/kernel/hostname", "%s\n", endpoint->name);
	put(files, "etc/hostname", "%s\n", endpoint->name);
	put(files, "etc/machine-id", "%016llx%016llx\n", (unsigned long long)id,
	    (unsigned long long)id);
}

int kernel_write_sysfs_files(const struct kernel *kernel, const char *directory)
{
	struct sysfs_files files = {.kernel = kernel, .directory = directory};
	host(&files);
	pci(&files);
	device(&files);
	verbs(&files);
	connection_manager(&files);
	port(&files);
	put_counters(&files);
	network_interface(&files);
	return files.error;
}
