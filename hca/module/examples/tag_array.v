// tag_array: the tags of a set-associative cache of 4 ways as RTL. The least recently used line is
// replaced first. Each clock edge commits one operation. Its result is combinational: it is at the
// outputs before the edge. verilog_cache.cpp drives this model.
//
//   LOOKUP  hit: the line is there; the edge makes it the most recently used
//   INSERT  full: another line goes, victim; the edge puts the line in its place
module tag_array #(
    parameter SETS_MAX = 512,
    parameter INDEX = $clog2(SETS_MAX)
) (
    input  wire        clk,
    input  wire [1:0]  op,
    input  wire [63:0] line,
    input  wire [INDEX-1:0] row,  // the set; of LOOKUP and INSERT the line's
    output wire        hit,
    output wire        full,
    output wire [63:0] victim
);
  localparam WAYS = 4;
  localparam [1:0] LOOKUP = 1, INSERT = 2;

  // Public, because the driver's invalidations change it directly, between two edges.
  reg [63:0] tags [0:SETS_MAX*WAYS-1] /*verilator public_flat_rd*/;
  reg        valid [0:SETS_MAX*WAYS-1] /*verilator public_flat_rw @(posedge clk)*/;
  reg [1:0]  age [0:SETS_MAX*WAYS-1];  // 0: used last; of one set, always a permutation

  reg [1:0] hit_way, victim_way;
  reg       found, any_free;
  integer   way, entry;

  always @* begin
    found = 0;
    hit_way = 0;
    any_free = 0;
    victim_way = 0;
    for (way = WAYS - 1; way >= 0; way = way - 1) begin
      if (valid[{row, way[1:0]}] && tags[{row, way[1:0]}] == line) begin
        found = 1;
        hit_way = way[1:0];
      end
      if (!any_free && age[{row, way[1:0]}] == 2'd3) victim_way = way[1:0];
      if (!valid[{row, way[1:0]}]) begin
        any_free = 1;
        victim_way = way[1:0];
      end
    end
  end

  assign hit = op == LOOKUP && found;
  assign full = op == INSERT && !any_free;
  assign victim = tags[{row, victim_way}];

  wire       uses = hit || op == INSERT;
  wire [1:0] used_way = op == INSERT ? victim_way : hit_way;

  always @(posedge clk) begin
    if (uses) begin
      for (entry = 0; entry < WAYS; entry = entry + 1)
        if (age[{row, entry[1:0]}] < age[{row, used_way}])
          age[{row, entry[1:0]}] <= age[{row, entry[1:0]}] + 2'd1;
      age[{row, used_way}] <= 0;
    end
    if (op == INSERT) begin
      tags[{row, used_way}] <= line;
      valid[{row, used_way}] <= 1;
    end
  end

  initial
    for (entry = 0; entry < SETS_MAX * WAYS; entry = entry + 1) begin
      valid[entry] = 0;
      tags[entry] = 0;
      age[entry] = entry[1:0];
    end
endmodule
