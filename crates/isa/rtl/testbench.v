// Runs one program on ultraembedded/riscv and prints the cycles and the result that it measured.
//
//   vvp FILE +image=HEX
//
// Memory answers in the next cycle, as the core's tightly coupled memory does; 128 KiB lie at address
// 0, of which the program starts at 0x12000. The timer is that of scruple's machine, but mtime counts
// cycles, and it raises the external interrupt, since the core ties its timer interrupt to 0.

`timescale 1ns / 1ns

module testbench;

localparam [31:0] START = 32'h0001_2000;
localparam [31:0] MAILBOX = 32'h0001_4000; // cycles, result, and any store to the third word: the end
localparam CYCLES_MAX = 2_000_000;

reg clock = 0, reset = 1;
always #5 clock = ~clock;

reg [31:0] memory [0:32767];
reg [63:0] mtime = 0, mtimecmp = ~64'b0;
reg [31:0] instruction = 0, loaded = 0;
reg fetched = 0, answered = 0;

wire fetch, load;
wire [3:0] store;
wire [31:0] fetch_address, address, stored;
wire device = address[31:16] == 16'h0200;
wire [14:0] place = address[16:2];

riscv_core core (
    .clk_i(clock), .rst_i(reset), .reset_vector_i(START), .cpu_id_i(32'b0),
    .intr_i(mtime >= mtimecmp),
    .mem_i_rd_o(fetch), .mem_i_pc_o(fetch_address), .mem_i_accept_i(1'b1),
    .mem_i_valid_i(fetched), .mem_i_inst_i(instruction), .mem_i_error_i(1'b0),
    .mem_d_rd_o(load), .mem_d_wr_o(store), .mem_d_addr_o(address), .mem_d_data_wr_o(stored),
    .mem_d_accept_i(1'b1), .mem_d_ack_i(answered), .mem_d_data_rd_i(loaded),
    .mem_d_error_i(1'b0), .mem_d_resp_tag_i(11'b0)
);

integer i;
reg [8 * 1024 - 1:0] image;
initial begin
    for (i = 0; i < 32768; i = i + 1) memory[i] = 0;
    if (!$value$plusargs("image=%s", image)) begin
        $display("no +image=HEX");
        $finish;
    end
    $readmemh(image, memory);
    #42 reset = 0;
    #(10 * CYCLES_MAX) $display("limit");
    $finish;
end

always @(posedge clock) begin
    fetched <= fetch & ~reset;
    instruction <= memory[fetch_address[16:2]];
    answered <= (load | (|store)) & ~reset;
    loaded <= device ? (address[2] ? mtime[63:32] : mtime[31:0]) : memory[place];
    mtime <= mtime + 1;
    if (device & store[0]) begin
        if (address[2]) mtimecmp[63:32] <= stored;
        else mtimecmp[31:0] <= stored;
    end
    for (i = 0; i < 4; i = i + 1)
        if (store[i] & ~device) memory[place][8 * i +: 8] <= stored[8 * i +: 8];
    if (store[0] & (address == MAILBOX + 8)) begin
        $display("%0d %0d", memory[MAILBOX[16:2]], memory[MAILBOX[16:2] + 1]);
        $finish;
    end
end

endmodule
