/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_print: prints the fields of each kind of packet. The fields of the transport headers come
 * from the table of headers.h.
 */
#include "fabric/wire/decode_print.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "fabric/wire/aeth.h"
#include "fabric/wire/headers.h"
#include "fabric/wire/opcode.h"

#define ADDRESS_TEXT 64

static bool has_transport(const struct decoded *decoded)
{
	return decoded->status == PARSE_OK && decoded->packet->kind == PACKET_DATA;
}

static void address_text(const struct path *path, bool source, char text[ADDRESS_TEXT])
{
	const uint8_t *mac = source ? path->smac : path->dmac;
	const uint8_t *gid = source ? path->sgid : path->dgid;
	char gid_text[INET6_ADDRSTRLEN];

	if (path->roce_version == ROCE_V2_IPV4) {
		snprintf(text, ADDRESS_TEXT, "%u.%u.%u.%u", gid[12], gid[13], gid[14], gid[15]);
	} else if (path->link_layer == LINK_ETHERNET && !path->has_grh) {
		snprintf(text, ADDRESS_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
			 mac[2], mac[3], mac[4], mac[5]);
	} else if (path->link_layer == LINK_ETHERNET) {
		inet_ntop(AF_INET6, gid, text, ADDRESS_TEXT);
	} else {
		unsigned lid = source ? path->slid : path->dlid;

		inet_ntop(AF_INET6, gid, gid_text, sizeof(gid_text));
		if (path->has_grh)
			snprintf(text, ADDRESS_TEXT, "lid %u/%s", lid, gid_text);
		else
			snprintf(text, ADDRESS_TEXT, "lid %u", lid);
	}
}

static void interface_text(const struct capture_record *record, char *text, size_t text_bytes)
{
	if (record->interface_name[0])
		snprintf(text, text_bytes, "%s", record->interface_name);
	else
		snprintf(text, text_bytes, "%" PRIu32, record->interface);
}

static void print_transport(FILE *out, const struct packet *packet)
{
	char syndrome[64];

	fprintf(out, " %s qp 0x%06" PRIx32 " psn %" PRIu32, opcode_name(packet->opcode),
		packet->dest_qp, packet->psn);
	if (opcode_has(packet->opcode, HDR_XRCETH))
		fprintf(out, " srq 0x%06" PRIx32, packet->xrc_srqn);
	if (opcode_has(packet->opcode, HDR_DETH))
		fprintf(out, " from qp 0x%06" PRIx32 " qkey 0x%08" PRIx32, packet->source_qp,
			packet->qkey);
	if (opcode_has(packet->opcode, HDR_DCETH))
		fprintf(out, " from dci 0x%06" PRIx32, packet->source_qp);
	if (opcode_has(packet->opcode, HDR_DC_CONNECT_ETH))
		fprintf(out, " dc-key 0x%016" PRIx64 " session %" PRIu32, packet->dc_key,
			packet->dc_session);
	if (opcode_has(packet->opcode, HDR_RETH) || opcode_has(packet->opcode, HDR_ATOMIC_ETH))
		fprintf(out, " address 0x%" PRIx64 " rkey 0x%08" PRIx32, packet->remote_address,
			packet->rkey);
	if (opcode_has(packet->opcode, HDR_RETH))
		fprintf(out, " length %" PRIu32, packet->dma_length);
	if (opcode_has(packet->opcode, HDR_ATOMIC_ETH))
		fprintf(out, " swap/add 0x%" PRIx64 " compare 0x%" PRIx64, packet->swap_or_add,
			packet->compare);
	if (opcode_has(packet->opcode, HDR_AETH)) {
		aeth_print(packet->syndrome, syndrome, sizeof(syndrome));
		fprintf(out, " %s msn %" PRIu32, syndrome, packet->msn);
	}
	if (opcode_has(packet->opcode, HDR_ATOMIC_ACK_ETH))
		fprintf(out, " was 0x%" PRIx64, packet->compare);
	if (opcode_has(packet->opcode, HDR_IMM))
		fprintf(out, " immediate 0x%08" PRIx32, packet->immediate);
	if (opcode_has(packet->opcode, HDR_IETH))
		fprintf(out, " invalidate 0x%08" PRIx32, packet->immediate);
	if (opcode_has_payload(packet->opcode))
		fprintf(out, " payload %" PRIu32, packet->payload_bytes);
	fprintf(out, "%s%s%s%s%s", packet->ack_request ? " ack-request" : "",
		packet->solicited ? " solicited" : "", packet->ecn == ECN_CE ? " congestion" : "",
		packet->becn ? " becn" : "", packet->migration ? " migrated" : "");
}

static void tcp_flags_text(const struct packet *packet, char *text)
{
	/* from the lowest bit, in the notation of tshark */
	static const char letters[] = "FSRPAUEC";

	for (unsigned i = 0; i < 8; i++)
		if (packet->tcp.flags >> i & 1)
			*text++ = letters[i];
	*text = '\0';
}

static void print_tcp(FILE *out, const struct packet *packet)
{
	const struct packet_tcp *tcp = &packet->tcp;
	char flags[9];

	tcp_flags_text(packet, flags);
	fprintf(out, " TCP %u > %u [%s] seq %" PRIu32, packet->path->tcp_source_port,
		packet->path->tcp_destination_port, flags, tcp->sequence);
	if (tcp->flags & TCP_ACK)
		fprintf(out, " ack %" PRIu32, tcp->acknowledgment);
	fprintf(out, " window %u", tcp->window);
	if (tcp->options & TCP_OPTION_MSS)
		fprintf(out, " mss %u", tcp->mss);
	if (tcp->options & TCP_OPTION_WINDOW_SCALE)
		fprintf(out, " scale %u", tcp->window_scale);
	if (tcp->options & TCP_OPTION_SACK_PERMITTED)
		fprintf(out, " sack-permitted");
	if (tcp->options & TCP_OPTION_TIMESTAMPS)
		fprintf(out, " time %" PRIu32 " echo %" PRIu32, tcp->timestamp,
			tcp->timestamp_echo);
	for (unsigned i = 0; i < tcp->sack_count; i++)
		fprintf(out, " sack %" PRIu32 "-%" PRIu32, packet->sack[i].left,
			packet->sack[i].right);
	fprintf(out, " payload %" PRIu32 "%s", packet->payload_bytes,
		packet->ecn == ECN_CE ? " congestion" : "");
}

static void print_pfc(FILE *out, const struct packet *packet)
{
	fprintf(out, " PFC");
	for (unsigned i = 0; i < 8; i++)
		if (packet->pause_enable >> i & 1)
			fprintf(out, " %u:%u", i, packet->pause_quanta[i]);
}

/* Returns the fields of a congestion control. A control packet has its fields, and a comment has
 * the fields of other packets. NULL means none. */
static const uint32_t *fields_of(const struct decoded *decoded)
{
	const struct packet *packet = decoded->packet;

	if (decoded->record->has_fields)
		return decoded->record->fields;
	return has_transport(decoded) && opcode_has(packet->opcode, HDR_CNP_RESERVED) &&
			       !packet->becn
		       ? packet->congestion.words
		       : NULL;
}

static void print_congestion_fields(FILE *out, const struct decoded *decoded)
{
	const uint32_t *words = fields_of(decoded);

	if (words)
		fprintf(out, " fields 0x%08" PRIx32 " 0x%08" PRIx32 " 0x%08" PRIx32 " 0x%08" PRIx32,
			words[0], words[1], words[2], words[3]);
}

static void print_damage(FILE *out, const struct decoded *decoded)
{
	if (decoded->packet->damage & DAMAGE_ICRC)
		fprintf(out, " WRONG ICRC");
	if (decoded->packet->damage & DAMAGE_VCRC)
		fprintf(out, " WRONG VCRC");
}

static const char *erspan_name(const struct erspan *erspan)
{
	return erspan->type == ERSPAN_III ? "III" : "II";
}

static void four_text(const uint8_t address[4], char text[INET_ADDRSTRLEN])
{
	inet_ntop(AF_INET, address, text, INET_ADDRSTRLEN);
}

static void print_mirror(FILE *out, const struct decoded *decoded)
{
	const struct erspan *erspan = &decoded->erspan;
	char source[INET_ADDRSTRLEN], destination[INET_ADDRSTRLEN];

	four_text(erspan->source, source);
	four_text(erspan->destination, destination);
	fprintf(out, " %s > %s ERSPAN %s session %u sequence %" PRIu32 "%s%s:", source, destination,
		erspan_name(erspan), erspan->session, erspan->sequence,
		erspan->egress ? " egress" : "", erspan->truncated ? " truncated" : "");
}

static void print_json_mirror(FILE *out, const struct decoded *decoded)
{
	const struct erspan *erspan = &decoded->erspan;
	char source[INET_ADDRSTRLEN], destination[INET_ADDRSTRLEN];

	four_text(erspan->source, source);
	four_text(erspan->destination, destination);
	fprintf(out,
		",\"erspan\":{\"type\":%u,\"source\":\"%s\",\"destination\":\"%s\",\"session\":%u,"
		"\"sequence\":%" PRIu32 ",\"truncated\":%s",
		erspan->type, source, destination, erspan->session, erspan->sequence,
		erspan->truncated ? "true" : "false");
	if (erspan->type == ERSPAN_III)
		fprintf(out, ",\"timestamp\":%" PRIu32 ",\"egress\":%s", erspan->timestamp,
			erspan->egress ? "true" : "false");
	else
		fprintf(out, ",\"index\":%" PRIu32, erspan->index);
	fprintf(out, "}");
}

static void print_start(FILE *out, const struct decoded *decoded)
{
	const struct capture_record *record = decoded->record;
	char interface[64];

	interface_text(record, interface, sizeof(interface));
	fprintf(out, "%" PRIu64 " %" PRIu64 ".%09" PRIu32 " %s", record->number, record->seconds,
		record->nanoseconds, interface);
	if (decoded->is_mirrored)
		print_mirror(out, decoded);
}

void decode_print_line(FILE *out, const struct decoded *decoded)
{
	const struct packet *packet = decoded->packet;
	char source[ADDRESS_TEXT], destination[ADDRESS_TEXT];

	print_start(out, decoded);
	if (!decoded->record->readable) {
		fprintf(out, " unknown link type, %zu bytes\n", decoded->record->length);
		return;
	}
	if (packet->kind == PACKET_FLOW_CONTROL) {
		fprintf(out, " credits op %u vl %u sent %u limit %u", packet->opcode, packet->vl,
			packet->credit_total, packet->credit_limit);
	} else {
		address_text(packet->path, true, source);
		address_text(packet->path, false, destination);
		fprintf(out, " %s > %s", source, destination);
	}
	if (has_transport(decoded))
		print_transport(out, packet);
	if (decoded->status == PARSE_OK && packet->kind == PACKET_TCP)
		print_tcp(out, packet);
	print_congestion_fields(out, decoded);
	if (packet->kind == PACKET_PFC)
		print_pfc(out, packet);
	if (decoded->status == PARSE_BTH_OPCODE)
		fprintf(out, " opcode 0x%02x", packet->opcode);
	if (decoded->status == PARSE_OK)
		fprintf(out, " (%" PRIu32 " bytes)", packet->wire_bytes);
	else
		fprintf(out, " %s%s (%zu bytes captured)", decoded->malformed ? "MALFORMED: " : "",
			parse_status_meaning(decoded->status), decoded->record->length);
	print_damage(out, decoded);
	if (decoded->record->cut && !decoded->erspan.truncated)
		fprintf(out, " cut short by the capture");
	fprintf(out, "\n");
}

static void print_hex(FILE *out, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%02x", i ? ":" : "", bytes[i]);
}

static void print_path_fields(FILE *out, const struct decoded *decoded)
{
	const struct path *path = decoded->packet->path;
	char gid[INET6_ADDRSTRLEN];

	if (path->link_layer == LINK_INFINIBAND) {
		fprintf(out, "    LRH vl %u sl %u slid %u dlid %u\n", decoded->packet->vl,
			path->service_level, path->slid, path->dlid);
	} else {
		fprintf(out, "    Ethernet source ");
		print_hex(out, path->smac, 6);
		fprintf(out, " destination ");
		print_hex(out, path->dmac, 6);
		if (path->vlan)
			fprintf(out, " vlan %u priority %u", path->vlan & 0xfff, path->vlan >> 13);
		fprintf(out, "\n");
	}
	if (!path->has_grh)
		return;
	fprintf(out, "    %s source %s", path->roce_version >= ROCE_V2_IPV4 ? "IP" : "GRH",
		inet_ntop(AF_INET6, path->sgid, gid, sizeof(gid)));
	fprintf(out, " destination %s class 0x%02x flow 0x%05" PRIx32 " hops %u\n",
		inet_ntop(AF_INET6, path->dgid, gid, sizeof(gid)), path->traffic_class,
		path->flow_label, decoded->packet->hop_limit);
	if (path->roce_version < ROCE_V2_IPV4)
		return;
	fprintf(out, "    IP ecn %u identification 0x%04x", decoded->packet->ecn,
		decoded->packet->ip_identification);
	if (!path_is_tcp(path))
		fprintf(out, " UDP source port %u", path->udp_source_port);
	fprintf(out, "\n");
}

void decode_print_fields(FILE *out, const struct decoded *decoded)
{
	const struct packet *packet = decoded->packet;

	decode_print_line(out, decoded);
	if (!decoded->record->readable || packet->kind == PACKET_FLOW_CONTROL)
		return;
	print_path_fields(out, decoded);
	if (!has_transport(decoded))
		return;
	for (size_t i = 0; i < header_field_count; i++) {
		const struct header_field *field = &header_fields[i];

		if (opcode_has(packet->opcode, field->header))
			fprintf(out, "    %-14s %-14s 0x%-16" PRIx64 "  %s\n", field->header_name,
				field->name, header_field_value(field, packet), field->meaning);
	}
	fprintf(out, "    payload %" PRIu32 " bytes, pad %" PRIu32 "\n", packet->payload_bytes,
		packet_pad_bytes(packet));
}

/* Prints a text in quotes. Control characters and non-ASCII characters become \u00xx. */
static void print_json_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < ' ' || *at > '~')
			fprintf(out, "\\u%04x", *at);
		else
			fputc(*at, out);
	}
	fputc('"', out);
}

static void print_json_transport(FILE *out, const struct packet *packet)
{
	fprintf(out, ",\"name\":\"%s\",\"payload_bytes\":%" PRIu32 ",\"wire_bytes\":%" PRIu32,
		opcode_name(packet->opcode), packet->payload_bytes, packet->wire_bytes);
	for (size_t i = 0; i < header_field_count; i++) {
		const struct header_field *field = &header_fields[i];

		if (opcode_has(packet->opcode, field->header))
			fprintf(out, ",\"%s.%s\":%" PRIu64, field->header_name, field->name,
				header_field_value(field, packet));
	}
	fprintf(out, ",\"ecn\":%u", packet->ecn);
}

static void print_json_tcp(FILE *out, const struct packet *packet)
{
	const struct packet_tcp *tcp = &packet->tcp;
	char flags[9];

	tcp_flags_text(packet, flags);
	fprintf(out,
		",\"name\":\"TCP\",\"payload_bytes\":%" PRIu32 ",\"wire_bytes\":%" PRIu32
		",\"TCP.source_port\":%u,\"TCP.destination_port\":%u,\"TCP.sequence\":%" PRIu32
		",\"TCP.acknowledgment\":%" PRIu32 ",\"TCP.window\":%u,\"TCP.flags\":\"%s\"",
		packet->payload_bytes, packet->wire_bytes, packet->path->tcp_source_port,
		packet->path->tcp_destination_port, tcp->sequence, tcp->acknowledgment, tcp->window,
		flags);
	if (tcp->options & TCP_OPTION_TIMESTAMPS)
		fprintf(out, ",\"TCP.timestamp\":%" PRIu32 ",\"TCP.timestamp_echo\":%" PRIu32,
			tcp->timestamp, tcp->timestamp_echo);
	fprintf(out, ",\"TCP.sack\":[");
	for (unsigned i = 0; i < tcp->sack_count; i++)
		fprintf(out, "%s[%" PRIu32 ",%" PRIu32 "]", i ? "," : "", packet->sack[i].left,
			packet->sack[i].right);
	fprintf(out, "],\"ecn\":%u", packet->ecn);
}

void decode_print_json(FILE *out, const struct decoded *decoded)
{
	const struct capture_record *record = decoded->record;
	const struct packet *packet = decoded->packet;
	char text[ADDRESS_TEXT];

	interface_text(record, text, sizeof(text));
	fprintf(out, "{\"number\":%" PRIu64 ",\"time\":%" PRIu64 ".%09" PRIu32 ",\"interface\":",
		record->number, record->seconds, record->nanoseconds);
	print_json_text(out, text);
	if (decoded->is_mirrored)
		print_json_mirror(out, decoded);
	fprintf(out, ",\"captured_bytes\":%zu%s,\"wrong\":%s,\"status\":", record->length,
		record->cut ? ",\"cut\":true" : "",
		decoded->malformed || packet->damage ? "true" : "false");
	print_json_text(out, record->readable ? parse_status_meaning(decoded->status)
					      : "unknown link type");
	if (record->readable) {
		fprintf(out, ",\"link\":\"%s\",\"icrc_wrong\":%s,\"vcrc_wrong\":%s",
			record->link_layer == LINK_ETHERNET ? "ethernet" : "infiniband",
			packet->damage & DAMAGE_ICRC ? "true" : "false",
			packet->damage & DAMAGE_VCRC ? "true" : "false");
		if (packet->kind != PACKET_FLOW_CONTROL) {
			address_text(packet->path, true, text);
			fprintf(out, ",\"source\":\"%s\"", text);
			address_text(packet->path, false, text);
			fprintf(out, ",\"destination\":\"%s\"", text);
		}
	}
	if (has_transport(decoded))
		print_json_transport(out, packet);
	if (decoded->status == PARSE_OK && packet->kind == PACKET_TCP)
		print_json_tcp(out, packet);
	if (fields_of(decoded))
		fprintf(out, ",\"fields\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]",
			fields_of(decoded)[0], fields_of(decoded)[1], fields_of(decoded)[2],
			fields_of(decoded)[3]);
	if (record->readable && packet->kind == PACKET_FLOW_CONTROL)
		fprintf(out, ",\"name\":\"CREDITS\",\"op\":%u,\"vl\":%u,\"fctbs\":%u,\"fccl\":%u",
			packet->opcode, packet->vl, packet->credit_total, packet->credit_limit);
	if (record->readable && packet->kind == PACKET_PFC) {
		fprintf(out, ",\"name\":\"PFC\",\"enable\":%u,\"quanta\":[", packet->pause_enable);
		for (unsigned i = 0; i < 8; i++)
			fprintf(out, "%s%u", i ? "," : "", packet->pause_quanta[i]);
		fprintf(out, "]");
	}
	fprintf(out, "}\n");
}
