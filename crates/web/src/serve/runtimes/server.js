// A server of Node.js: one thread with an event loop.
//
// server WAIT_NS COMPUTE_NS EVERY KEEP_ALIVE, with the listening socket as standard input: each request
// waits, and one of EVERY computes before. SIGTERM ends it.
"use strict";
const [waitNs, computeNs, every] = process.argv.slice(2, 5).map(Number);
const waitMs = waitNs / 1e6;
const needMs = computeNs / 1e6;
const body = "weighed and not wanting";
const head = { "Content-Type": "text/plain", "Content-Length": body.length };
if (process.argv[5] !== "yes") head.Connection = "close";
let asked = 0;
let state = 1;

const cpuMs = () => {
  const used = process.cpuUsage();
  return (used.user + used.system) / 1e3;
};

function compute() {
  for (const begun = cpuMs(); cpuMs() - begun < needMs; ) {
    for (let step = 0; step < 2000; step++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
    }
  }
}

process.on("SIGTERM", () => process.exit(0));
const server = require("http").createServer((_, response) => {
  const answer = () => {
    response.writeHead(200, head);
    response.end(body);
  };
  if (needMs > 0 && ++asked % every === 0) compute();
  if (waitMs > 0) setTimeout(answer, waitMs);
  else answer();
});
server.keepAliveTimeout = 0;
server.listen({ fd: 0 });
