/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests verbs-shim/preload/names: names of hosts, and the translation of addresses that a program
 * binds and connects to.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/suite.h"
#include "verbs-shim/preload/names.h"

#define TESTS(TEST)                    \
	TEST(inactive_changes_nothing) \
	TEST(names)                    \
	TEST(ipv4)                     \
	TEST(ipv6_becomes_ipv4_mapped) \
	TEST(bad_tables)
SUITE(TESTS)

static uint32_t ipv4(const char *text)
{
	return inet_addr(text);
}

static uint32_t rewritten(const char *text)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(18515)}, result;
	struct sockaddr_storage changed;
	socklen_t length = sizeof(address);

	address.sin_addr.s_addr = ipv4(text);
	memcpy(&result, names_rewrite(-1, (struct sockaddr *)&address, &length, &changed),
	       sizeof(result));
	CU_ASSERT_EQUAL(result.sin_port, htons(18515));
	return result.sin_addr.s_addr;
}

static void test_inactive_changes_nothing(void)
{
	uint32_t address;

	CU_ASSERT_FALSE(names_active());
	CU_ASSERT_FALSE(names_find("host0", &address));
	CU_ASSERT_EQUAL(rewritten("0.0.0.0"), 0);
	CU_ASSERT_EQUAL(rewritten("127.0.0.1"), ipv4("127.0.0.1"));
}

static void test_names(void)
{
	uint32_t address = 0;

	names_init("host0=127.77.0.1,host1=127.77.0.2", 1);
	CU_ASSERT_TRUE(names_active());
	CU_ASSERT_STRING_EQUAL(names_own(), "host1");
	CU_ASSERT_TRUE(names_find("host0", &address));
	CU_ASSERT_EQUAL(address, ipv4("127.77.0.1"));
	CU_ASSERT_TRUE(names_find("localhost", &address));
	CU_ASSERT_EQUAL(address, ipv4("127.77.0.2"));
	CU_ASSERT_FALSE(names_find("host", &address));
	CU_ASSERT_FALSE(names_find("host2", &address));
}

static void test_ipv4(void)
{
	CU_ASSERT_EQUAL(rewritten("0.0.0.0"), ipv4("127.77.0.2"));
	CU_ASSERT_EQUAL(rewritten("127.0.0.1"), ipv4("127.77.0.2"));
	CU_ASSERT_EQUAL(rewritten("127.77.0.1"), ipv4("127.77.0.1")); /* another host */
	CU_ASSERT_EQUAL(rewritten("192.0.2.7"), ipv4("192.0.2.7"));
}

static void test_ipv6_becomes_ipv4_mapped(void)
{
	static const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 77, 0, 2};
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(7)}, result;
	struct sockaddr_storage changed;
	socklen_t length = sizeof(address);
	int one = socket(AF_INET6, SOCK_STREAM, 0);

	memcpy(&result, names_rewrite(one, (struct sockaddr *)&address, &length, &changed),
	       sizeof(result));
	CU_ASSERT_EQUAL(memcmp(&result.sin6_addr, mapped, 16), 0);
	address.sin6_addr.s6_addr[15] = 1; /* ::1 */
	memcpy(&result, names_rewrite(one, (struct sockaddr *)&address, &length, &changed),
	       sizeof(result));
	CU_ASSERT_EQUAL(memcmp(&result.sin6_addr, mapped, 16), 0);
	address.sin6_addr.s6_addr[0] = 0x20; /* 2000::1 */
	CU_ASSERT_PTR_EQUAL(names_rewrite(one, (struct sockaddr *)&address, &length, &changed),
			    &address);
	close(one);
}

static void test_bad_tables(void)
{
	static const char *const bad[] = {"", "host0", "=127.77.0.1", "host0=127.77.0",
					  "host0=127.77.0.1"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		names_init(bad[i], 1); /* in none of them is there a host number 1 */
		CU_ASSERT_FALSE(names_active());
	}
}
