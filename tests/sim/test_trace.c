/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a trace file returns exactly the traced records of the selected blocks, and that a
 * damaged file is detected. Checks the exact text of both exports and of the counters.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/counters.h"
#include "sim/trace.h"
#include "sim/trace_export.h"
#include "tests/support/suite.h"

#define TESTS(TEST)         \
	TEST(read_back)     \
	TEST(damaged_files) \
	TEST(perfetto)      \
	TEST(arrows)        \
	TEST(vcd)           \
	TEST(counters)
SUITE(TESTS)

/* clang-format off */
#define LINK_COUNTERS(X) \
	X(packets, "packets", "sent") \
	X(bytes,   "B",       "sent")
#define LINK_TRACE(X) \
	X(SEND, "psn", "bytes", "a packet leaves") \
	X(DROP, "psn", "",      "a packet is lost")
/* clang-format on */
struct link_counters {
	LINK_COUNTERS(COUNTER_FIELD)
};
enum { LINK_TRACE(TRACE_ENUM) };
static const struct counter counters[] = {LINK_COUNTERS(COUNTER_ENTRY){0}};
static const struct trace_point points[] = {LINK_TRACE(TRACE_ENTRY){0}};
static const struct block_type link_type = {
	.name = "link", .counters = counters, .trace_points = points};

static const char path[] = "trace";
static struct sim *sim;
static struct block first, second, late;
static struct event event;
static struct link_counters counts = {12, UINT64_C(1) << 60};

static void send_one(struct event *fired)
{
	(void)fired;
	trace(&first, TRACE_SEND, 5, 1, 4096);
	trace(&second, TRACE_SEND, 6, 2, 1);
	trace(&late, TRACE_DROP, UINT64_MAX, 3, 0);
}

static void write_trace(void)
{
	struct trace_file *file;

	sim = sim_create(SIM_ENGINE_native, 9);
	block_init(&first, sim, &link_type, "host0.link", NULL, &counts);
	block_init(&second, sim, &link_type, "host1.link", NULL, &counts);
	file = trace_open(sim, path, "host0.*,,late");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	block_init(&late, sim, &link_type, "late", NULL, NULL);
	event_init(&event, &first, send_one);
	sim_schedule(&event, 1234567);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_TRUE(trace_close(file));
	CU_ASSERT_PTR_NULL(first.trace);
}

static void end(void)
{
	block_fini(&first);
	block_fini(&second);
	block_fini(&late);
	sim_destroy(sim);
}

static void test_read_back(void)
{
	const char *error;
	struct trace_reader *reader;
	struct trace_entry entry;

	write_trace();
	reader = trace_reader_open(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
	CU_ASSERT_TRUE_FATAL(trace_reader_next(reader, &entry));
	CU_ASSERT_EQUAL(entry.time, 1234567);
	CU_ASSERT_EQUAL(entry.tag, 5);
	CU_ASSERT_EQUAL(entry.first, 1);
	CU_ASSERT_EQUAL(entry.second, 4096);
	CU_ASSERT_STRING_EQUAL(entry.source->name, "host0.link");
	CU_ASSERT_STRING_EQUAL(entry.source->type, "link");
	CU_ASSERT_STRING_EQUAL(entry.source->points[entry.point].name, "SEND");
	CU_ASSERT_STRING_EQUAL(entry.source->points[entry.point].second, "bytes");
	CU_ASSERT_TRUE_FATAL(trace_reader_next(reader, &entry));
	CU_ASSERT_STRING_EQUAL(entry.source->name, "late");
	CU_ASSERT_STRING_EQUAL(entry.source->points[entry.point].name, "DROP");
	CU_ASSERT_EQUAL(entry.tag, UINT64_MAX);
	CU_ASSERT_FALSE(trace_reader_next(reader, &entry));
	CU_ASSERT_PTR_NULL(trace_reader_error(reader));
	trace_reader_close(reader);
	end();
}

static void test_damaged_files(void)
{
	const char *error;
	struct trace_reader *reader;
	struct trace_entry entry;
	unsigned entries = 0;

	write_trace();
	CU_ASSERT_EQUAL(truncate(path, 32 + 40 + 56 + 40 + 30), 0);
	reader = trace_reader_open(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
	while (trace_reader_next(reader, &entry))
		entries++;
	CU_ASSERT_EQUAL(entries, 0);
	CU_ASSERT_PTR_NOT_NULL(trace_reader_error(reader));
	trace_reader_close(reader);
	CU_ASSERT_EQUAL(truncate(path, 10), 0);
	CU_ASSERT_PTR_NULL(trace_reader_open(path, &error));
	CU_ASSERT_PTR_NULL(trace_reader_open("/nonexistent/file", &error));
	CU_ASSERT_STRING_EQUAL(error, "No such file or directory");
	CU_ASSERT_PTR_NULL(trace_open(sim, "/nonexistent/file", "*"));
	end();
}

static void check_export(bool (*export_trace)(struct trace_reader *, FILE *), const char *expected)
{
	const char *error;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	struct trace_reader *reader = trace_reader_open(path, &error);

	CU_ASSERT_TRUE(export_trace(reader, out));
	fclose(out);
	CU_ASSERT_STRING_EQUAL(text, expected);
	if (strcmp(text, expected) != 0)
		printf("\n%s\n", text);
	free(text);
	trace_reader_close(reader);
}

static void test_perfetto(void)
{
	write_trace();
	check_export(
		trace_export_perfetto,
		"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		"{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"host0\"}},"
		"\n"
		"{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":"
		"\"host0.link\"}},\n"
		"{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_sort_index\",\"args\":{\"sort_"
		"index\":1}},\n"
		"{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":\"late\"}},\n"
		"{\"ph\":\"M\",\"pid\":2,\"tid\":3,\"name\":\"thread_name\",\"args\":{\"name\":"
		"\"late\"}},\n"
		"{\"ph\":\"M\",\"pid\":2,\"tid\":3,\"name\":\"thread_sort_index\",\"args\":{\"sort_"
		"index\":3}},\n"
		"{\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":1,\"ts\":1.234567,\"name\":\"SEND\","
		"\"args\":{\"tag\":5,\"psn\":1,\"bytes\":4096}},\n"
		"{\"ph\":\"i\",\"s\":\"t\",\"pid\":2,\"tid\":3,\"ts\":1.234567,\"name\":\"DROP\","
		"\"args\":{\"tag\":\"0xffffffffffffffff\",\"psn\":3}}\n]}\n");
	end();
}

/* clang-format off */
#define STAGES_TRACE(X) \
	X(WAIT, "picoseconds", "",    "a stage") \
	X(WORK, "picoseconds", "",    "a stage") \
	X(ALL,  "picoseconds", "qpn", "their sum")
/* clang-format on */
enum { STAGES_TRACE(TRACE_ENUM) };
static const struct trace_point stage_points[] = {STAGES_TRACE(TRACE_ENTRY){0}};
static const struct block_type stages_type = {.name = "latency", .trace_points = stage_points};
static struct block stages;

/* Two requests that are in a block at once. One passes to another host, and has stages. */
static void pass(struct event *fired)
{
	static unsigned times;

	switch (times++) {
	case 0:
		trace(&first, TRACE_SEND, 7, 0, 0);
		break;
	case 1:
		trace(&first, TRACE_SEND, 8, 0, 0);
		break;
	case 2:
		trace(&first, TRACE_SEND, 7, 0, 0);
		trace(&second, TRACE_SEND, 7, 0, 0);
		break;
	default:
		trace(&first, TRACE_SEND, 8, 0, 0);
		trace(&stages, TRACE_WAIT, 7, 1000000, 0);
		trace(&stages, TRACE_WORK, 7, 2500000, 0);
		trace(&stages, TRACE_ALL, 7, 3500000, 0);
		return;
	}
	sim_schedule(fired, 1000000);
}

/* Prints only the slices, the arrows and the second threads. */
static bool export_drawn(struct trace_reader *reader, FILE *out)
{
	char *text = NULL, *rest, *line;
	size_t bytes = 0;
	FILE *whole = open_memstream(&text, &bytes);
	bool good = trace_export_perfetto(reader, whole);

	fclose(whole);
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (strstr(line, "\"X\"") || strstr(line, "work request") || strstr(line, "#2"))
			fprintf(out, "%s\n", line);
	free(text);
	return good;
}

static void test_arrows(void)
{
	struct trace_file *file;

	sim = sim_create(SIM_ENGINE_native, 9);
	block_init(&first, sim, &link_type, "host0.link", NULL, &counts);
	block_init(&second, sim, &link_type, "host1.link", NULL, &counts);
	block_init(&stages, sim, &stages_type, "host0.latency", NULL, NULL);
	file = trace_open(sim, path, "*");
	event_init(&event, &first, pass);
	sim_schedule(&event, 1000000);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_TRUE(trace_close(file));
	check_export(export_drawn, "{\"ph\":\"M\",\"pid\":1,\"tid\":5,\"name\":\"thread_name\",\"a"
				   "rgs\":{\"name\":\"host0.link #2\"}},\n"
				   "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":0.500000,\"dur\":1.00"
				   "0000,\"name\":\"WAIT\",\"args\":{\"tag\":7}},\n"
				   "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":1.500000,\"dur\":2.50"
				   "0000,\"name\":\"WORK\",\"args\":{\"tag\":7}},\n"
				   "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":0.500000,\"dur\":3.50"
				   "0000,\"name\":\"ALL\",\"args\":{\"tag\":7}},\n"
				   "{\"ph\":\"s\",\"pid\":1,\"tid\":3,\"ts\":0.500000,\"cat\":\"wo"
				   "rk request\",\"name\":\"work request\",\"id\":\"7\"},\n"
				   "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1.000000,\"dur\":2.00"
				   "0000,\"name\":\"host0.link\",\"args\":{\"tag\":7}},\n"
				   "{\"ph\":\"t\",\"pid\":1,\"tid\":1,\"ts\":1.000000,\"cat\":\"wo"
				   "rk request\",\"name\":\"work request\",\"id\":\"7\"},\n"
				   "{\"ph\":\"X\",\"pid\":2,\"tid\":2,\"ts\":3.000000,\"dur\":0.00"
				   "1000,\"name\":\"host1.link\",\"args\":{\"tag\":7}},\n"
				   "{\"ph\":\"f\",\"bp\":\"e\",\"pid\":2,\"tid\":2,\"ts\":3.000000"
				   ",\"cat\":\"work request\",\"name\":\"work request\",\"id\":\"7"
				   "\"},\n"
				   "{\"ph\":\"X\",\"pid\":1,\"tid\":5,\"ts\":2.000000,\"dur\":2.00"
				   "0000,\"name\":\"host0.link\",\"args\":{\"tag\":8}},\n");
	block_fini(&stages);
	block_fini(&first);
	block_fini(&second);
	sim_destroy(sim);
}

static void test_vcd(void)
{
	write_trace();
	check_export(
		trace_export_vcd,
		"$version hcasim $end\n$timescale 1 ps $end\n"
		"$scope module host0 $end\n$scope module link $end\n"
		"$scope module SEND $end\n$var wire 64 ! tag $end\n$var wire 64 \" psn $end\n"
		"$var wire 64 # bytes $end\n$upscope $end\n"
		"$scope module DROP $end\n$var wire 64 $ tag $end\n$var wire 64 % psn "
		"$end\n$upscope $end\n"
		"$upscope $end\n$upscope $end\n"
		"$scope module late $end\n"
		"$scope module SEND $end\n$var wire 64 ' tag $end\n$var wire 64 ( psn $end\n"
		"$var wire 64 ) bytes $end\n$upscope $end\n"
		"$scope module DROP $end\n$var wire 64 * tag $end\n$var wire 64 + psn "
		"$end\n$upscope $end\n"
		"$upscope $end\n$enddefinitions $end\n"
		"#1234567\nb101 !\nb1 \"\nb1000000000000 #\n"
		"b1111111111111111111111111111111111111111111111111111111111111111 *\nb11 +\n");
	end();
}

static void test_counters(void)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	write_trace();
	counters_print_text(sim, "host1.*", out);
	counters_print_json(sim, NULL, out);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(
		text,
		"host1.link.packets=12\nhost1.link.bytes=1152921504606846976\n"
		"{\n\"host0.link\": {\"type\": \"link\", \"counters\": {\"packets\": 12, "
		"\"bytes\": "
		"\"0x1000000000000000\"}},\n"
		"\"host1.link\": {\"type\": \"link\", \"counters\": {\"packets\": 12, \"bytes\": "
		"\"0x1000000000000000\"}}\n}\n");
	CU_ASSERT_PTR_NOT_NULL_FATAL(counters_find(sim, "host0.link.packets"));
	CU_ASSERT_EQUAL(*counters_find(sim, "host0.link.packets"), 12);
	CU_ASSERT_PTR_NULL(counters_find(sim, "host0.link.packet"));
	CU_ASSERT_PTR_NULL(counters_find(sim, "late.packets"));
	free(text);
	end();
}
