/* The results of the kernels, as a build for x86-64 printed them. */
#define BASE64 0x3c2d9d4au
#define CRC32 0xaef245f3u
#define DIJKSTRA 0x8f65d040u
#define DISTANCE 0x00000059u
#define FIR 0x0bfd6055u
#define HUFFMAN 0x29c96eb4u
#define LZSS 0x0000011du
#define MATMULT 0x6dd8c198u
#define MONTGOMERY 0x0e3816f7u
#define QUICKSORT 0x23ac6cfbu
#define SEARCH 0xd49a440au
#define SHA256 0x3c840f0au
#define TOKENS 0xc8457c92u
