/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script: see script.h. Time stamps and quick ACKs are off and the ACK delay is 40 ms unless a
 * script sets them. Both initial sequence numbers are near 2^32, so that every script wraps.
 */
#include "tests/tcp/support/script.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENT_MAX = 256, WORDS_MAX = 40, LINE_BYTES = 256 };

#define OWN_INITIAL  UINT32_C(0xfffffc00)
#define PEER_INITIAL UINT32_C(0xfffffff0)
#define OWN_PORT     40000
#define PEER_PORT    80

struct sent {
	sim_time at;
	struct tcp_segment segment;
};

struct run {
	struct tcp_connection *connection;
	struct tcp_params params;
	struct congestion congestion;
	struct sent sent[SENT_MAX];
	unsigned sent_first, sent_count;
	sim_time now, timer_at;
	unsigned events;
	bool no_room;
	const char *line;
	char words[WORDS_MAX][LINE_BYTES];
	unsigned word_count;
};

static const struct {
	char letter;
	uint8_t flag;
} flag_letters[] = {{'S', TCP_SYN}, {'F', TCP_FIN}, {'R', TCP_RST}, {'E', TCP_ECE},
		    {'W', TCP_CWR}, {'A', TCP_ACK}, {'P', TCP_PSH}, {'U', TCP_URG}};

static const char *const event_names[] = {"connected",   "readable",         "acknowledged",
					  "peer-closed", "finished",         "reset",
					  "timed-out",   "urgent-announced", "urgent-arrived"};

static void fail(const struct run *run, const char *what)
{
	char text[LINE_BYTES * 3];

	snprintf(text, sizeof(text), "line `%s`: %s", run->line, what);
	printf("%s\n", text);
	CU_FAIL(text);
}

static bool take_segment(void *context, const struct tcp_segment *segment)
{
	struct run *run = context;

	if (run->no_room && (segment->payload_bytes || (segment->header.flags & TCP_FIN)))
		return false;
	if (run->sent_first + run->sent_count == SENT_MAX)
		abort();
	run->sent[run->sent_first + run->sent_count++] = (struct sent){run->now, *segment};
	return true;
}

static void take_timer(void *context, sim_time at)
{
	((struct run *)context)->timer_at = at;
}

static void take_events(void *context, unsigned events)
{
	((struct run *)context)->events |= events;
}

static const struct tcp_host host = {
	.transmit = take_segment, .set_timer = take_timer, .notify = take_events};

static const char *print_segment(const struct tcp_segment *segment)
{
	static char text[LINE_BYTES];
	const struct tcp_header *header = &segment->header;
	int length = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(flag_letters); i++)
		if (header->flags & flag_letters[i].flag)
			text[length++] = flag_letters[i].letter;
	length += snprintf(text + length, sizeof(text) - (size_t)length, " %" PRIu32 "(%u)",
			   header->sequence - OWN_INITIAL, segment->payload_bytes);
	if (header->flags & TCP_ACK)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " ack %" PRIu32,
				   header->acknowledgment - PEER_INITIAL);
	length += snprintf(text + length, sizeof(text) - (size_t)length, " win %u", header->window);
	if (header->flags & TCP_URG)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " urg %u",
				   header->urgent);
	if (header->options & TCP_OPTION_MSS)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " mss %u",
				   header->mss);
	if (header->options & TCP_OPTION_WINDOW_SCALE)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " wscale %u",
				   header->window_scale);
	if (header->options & TCP_OPTION_SACK_PERMITTED)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " sackok");
	if (header->options & TCP_OPTION_TIMESTAMPS)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " ts %u %u",
				   header->timestamp, header->timestamp_echo);
	for (unsigned i = 0; i < header->sack_count; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%u-%u",
				   i ? "," : " sack ", header->sack[i].left - PEER_INITIAL,
				   header->sack[i].right - PEER_INITIAL);
	if (segment->ecn)
		snprintf(text + length, sizeof(text) - (size_t)length, " %s",
			 segment->ecn == ECN_CE ? "ce" : "ect0");
	return text;
}

static uint64_t number(const char *word)
{
	return strtoull(word, NULL, 10);
}

static const char *word_after(const struct run *run, const char *name)
{
	for (unsigned i = 2; i + 1 < run->word_count; i++)
		if (!strcmp(run->words[i], name))
			return run->words[i + 1];
	return NULL;
}

static bool has_word(const struct run *run, const char *name)
{
	for (unsigned i = 2; i < run->word_count; i++)
		if (!strcmp(run->words[i], name))
			return true;
	return false;
}

static void read_options(const struct run *run, struct tcp_header *header)
{
	const char *mss = word_after(run, "mss"), *scale = word_after(run, "wscale");
	const char *stamp = word_after(run, "ts");

	if (mss) {
		header->options |= TCP_OPTION_MSS;
		header->mss = (uint16_t)number(mss);
	}
	if (scale) {
		header->options |= TCP_OPTION_WINDOW_SCALE;
		header->window_scale = (uint8_t)number(scale);
	}
	if (has_word(run, "sackok"))
		header->options |= TCP_OPTION_SACK_PERMITTED;
	if (stamp) {
		header->options |= TCP_OPTION_TIMESTAMPS;
		header->timestamp = (uint32_t)number(stamp);
		header->timestamp_echo = (uint32_t)number(stamp + LINE_BYTES);
	}
}

static void read_sacks(const char *text, uint32_t initial, struct tcp_header *header)
{
	while (text && header->sack_count < TCP_SACK_MAX) {
		char *end;
		uint32_t left = (uint32_t)strtoull(text, &end, 10);
		uint32_t right = (uint32_t)strtoull(end + 1, &end, 10);

		header->sack[header->sack_count++] =
			(struct tcp_sack){initial + left, initial + right};
		text = *end == ',' ? end + 1 : NULL;
	}
}

/* Returns the segment of the line, from the side whose initial sequence number is `own`. */
static struct tcp_segment read_segment(const struct run *run, uint32_t own, uint32_t other)
{
	struct tcp_segment segment = {.header = {0}};
	struct tcp_header *header = &segment.header;
	const char *ack = word_after(run, "ack"), *window = word_after(run, "win");
	const char *urgent = word_after(run, "urg");
	unsigned sequence = 0, bytes = 0;

	for (const char *letter = run->words[2]; *letter; letter++)
		for (unsigned i = 0; i < ARRAY_SIZE(flag_letters); i++)
			if (flag_letters[i].letter == *letter)
				header->flags |= flag_letters[i].flag;
	if (sscanf(run->words[3], "%u(%u)", &sequence, &bytes) != 2)
		fail(run, "expected SEQUENCE(BYTES)");
	header->sequence = own + sequence;
	segment.payload_bytes = bytes;
	if (ack)
		header->acknowledgment = other + (uint32_t)number(ack);
	if (window)
		header->window = (uint16_t)number(window);
	if (urgent)
		header->urgent = (uint16_t)number(urgent);
	read_options(run, header);
	read_sacks(word_after(run, "sack"), other, header);
	segment.ecn = has_word(run, "ce") ? ECN_CE : has_word(run, "ect0") ? ECN_ECT0 : ECN_NOT_ECT;
	return segment;
}

static void inject(struct run *run)
{
	struct tcp_segment segment = read_segment(run, PEER_INITIAL, OWN_INITIAL);

	segment.header.source_port = PEER_PORT;
	segment.header.destination_port = OWN_PORT;
	tcp_input(run->connection, run->now, &segment);
}

static bool same(const struct run *run, const struct tcp_segment *expected,
		 const struct tcp_segment *came)
{
	const struct tcp_header *one = &expected->header, *other = &came->header;

	if (one->flags != (other->flags & ~TCP_PSH) || one->sequence != other->sequence ||
	    expected->payload_bytes != came->payload_bytes || expected->ecn != came->ecn)
		return false;
	if ((one->flags & TCP_ACK) && one->acknowledgment != other->acknowledgment)
		return false;
	if (word_after(run, "win") && one->window != other->window)
		return false;
	if (word_after(run, "ts") &&
	    (one->timestamp != other->timestamp || one->timestamp_echo != other->timestamp_echo))
		return false;
	return ((one->options ^ other->options) & ~TCP_OPTION_TIMESTAMPS) == 0 &&
	       one->urgent == other->urgent && one->mss == other->mss &&
	       one->window_scale == other->window_scale && one->sack_count == other->sack_count &&
	       !memcmp(one->sack, other->sack, one->sack_count * sizeof(one->sack[0]));
}

static void expect(struct run *run)
{
	struct tcp_segment expected = read_segment(run, OWN_INITIAL, PEER_INITIAL);
	const struct sent *sent = &run->sent[run->sent_first];
	char text[LINE_BYTES * 2];

	if (!run->sent_count) {
		fail(run, "no segment was sent");
		return;
	}
	run->sent_first++;
	run->sent_count--;
	if (!run->sent_count)
		run->sent_first = 0;
	if (sent->at == run->now && same(run, &expected, &sent->segment))
		return;
	snprintf(text, sizeof(text), "came: %.6f > %s", (double)sent->at / (double)US,
		 print_segment(&sent->segment));
	fail(run, text);
}

static void check_number(const struct run *run, uint64_t came)
{
	char text[LINE_BYTES];

	snprintf(text, sizeof(text), "is %" PRIu64, came);
	if (came != number(run->words[3]))
		fail(run, text);
}

static void check(const struct run *run)
{
	const char *name = run->words[2];
	struct tcp_report report;

	tcp_report(run->connection, &report);
	if (!strcmp(name, "state")) {
		if (strcmp(tcp_state_name(report.state), run->words[3]))
			fail(run, tcp_state_name(report.state));
		return;
	}
	const struct {
		const char *name;
		uint64_t value;
	} values[] = {
		{"cwnd", report.cwnd_bytes},
		{"in-flight", report.in_flight_bytes},
		{"peer-window", report.peer_window_bytes},
		{"acknowledged", report.acknowledged},
		{"received", report.received},
		{"readable", tcp_readable(run->connection)},
		{"timeouts", report.counts.timeouts},
		{"recoveries", report.counts.recoveries},
		{"probes", report.counts.tail_probes},
		{"window-probes", report.counts.window_probes},
		{"keepalive-probes", report.counts.keepalive_probes},
		{"stuck", tcp_stuck(run->connection)},
		{"ce-received", report.counts.ce_received},
		{"ece-received", report.counts.ece_received},
		{"reductions", report.counts.window_reductions},
		{"rto", report.rto / US},
		{"recovering", report.recovering},
		{"urgent", tcp_urgent(run->connection)},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(values); i++)
		if (!strcmp(values[i].name, name)) {
			check_number(run, values[i].value);
			return;
		}
	fail(run, "no such value");
}

static void check_event(struct run *run)
{
	for (unsigned i = 0; i < ARRAY_SIZE(event_names); i++)
		if (!strcmp(event_names[i], run->words[2])) {
			if (!(run->events & 1u << i))
				fail(run, "was not told");
			run->events &= ~(1u << i);
			return;
		}
	fail(run, "no such event");
}

static void call(struct run *run)
{
	const char *name = run->words[1];
	uint64_t bytes = run->word_count > 2 ? number(run->words[2]) : 0;

	if (!strcmp(name, "connect"))
		tcp_connect(run->connection, run->now);
	else if (!strcmp(name, "listen"))
		tcp_listen(run->connection, run->now);
	else if (!strcmp(name, "write"))
		tcp_write(run->connection, run->now, bytes);
	else if (!strcmp(name, "urge"))
		tcp_urge(run->connection, bytes);
	else if (!strcmp(name, "read"))
		tcp_read(run->connection, run->now, bytes);
	else if (!strcmp(name, "shutdown"))
		tcp_shutdown(run->connection, run->now);
	else if (!strcmp(name, "orphan"))
		tcp_orphan(run->connection, run->now);
	else if (!strcmp(name, "abort"))
		tcp_abort(run->connection, run->now);
	else if (!strcmp(name, "no-room"))
		run->no_room = true;
	else if (!strcmp(name, "room"))
		run->no_room = false, tcp_resume(run->connection, run->now);
	else
		fail(run, "no such step");
}

static void split(struct run *run)
{
	char copy[LINE_BYTES], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", run->line);
	run->word_count = 0;
	while ((word = strsep(&rest, " ")) && run->word_count < WORDS_MAX)
		if (*word)
			snprintf(run->words[run->word_count++], LINE_BYTES, "%s", word);
}

static void timers_until(struct run *run, sim_time until)
{
	while (run->timer_at <= until) {
		run->now = run->timer_at;
		run->timer_at = SIM_NEVER;
		tcp_timer(run->connection, run->now);
	}
	run->now = until;
}

static void step(struct run *run)
{
	char text[LINE_BYTES * 2];

	split(run);
	timers_until(run, (sim_time)(strtod(run->words[0], NULL) * (double)US + 0.5));
	if (!strcmp(run->words[1], ">")) {
		expect(run);
		return;
	}
	if (run->sent_count) {
		snprintf(text, sizeof(text), "not expected: %.6f > %s",
			 (double)run->sent[run->sent_first].at / (double)US,
			 print_segment(&run->sent[run->sent_first].segment));
		fail(run, text);
		run->sent_first = run->sent_count = 0;
	}
	if (!strcmp(run->words[1], "<"))
		inject(run);
	else if (!strcmp(run->words[1], "is"))
		check(run);
	else if (!strcmp(run->words[1], "event"))
		check_event(run);
	else
		call(run);
}

/* "name=value name=value" */
static void set_params(struct run *run, const char *text)
{
	char copy[LINE_BYTES], error[LINE_BYTES], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');
		const struct param *param = tcp_param_list;

		if (!value)
			continue;
		*value++ = '\0';
		while (param->name && strcmp(param->name, word))
			param++;
		if (!param->name || !param_parse(param, value, &run->params, error, sizeof(error)))
			fail(run, word);
	}
}

void script_run(const struct script_setup *setup, const char *const *lines)
{
	static struct run run;
	char error[LINE_BYTES];
	const char *congestion = setup->congestion ? setup->congestion : "newreno";

	run = (struct run){.timer_at = SIM_NEVER, .line = "set-up"};
	params_default(tcp_param_list, &run.params);
	set_params(&run, "timestamps=false quick_acks=0");
	if (setup->set)
		set_params(&run, setup->set);
	if (!congestion_init(&run.congestion, congestion, error, sizeof(error)))
		CU_FAIL_FATAL(error);
	run.connection = tcp_create(&(struct tcp_setup){
		.params = &run.params,
		.congestion = &run.congestion,
		.host = &host,
		.context = &run,
		.local_port = OWN_PORT,
		.remote_port = PEER_PORT,
		.mss = 1000,
		.initial_sequence = OWN_INITIAL,
		.line_rate_bps = UINT64_C(10) * 1000 * 1000 * 1000,
	});
	for (; *lines; lines++) {
		run.line = *lines;
		step(&run);
	}
	if (run.sent_count)
		fail(&run, print_segment(&run.sent[run.sent_first].segment));
	tcp_destroy(run.connection);
	congestion_fini(&run.congestion);
}
