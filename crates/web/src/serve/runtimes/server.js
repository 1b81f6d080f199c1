// A server of Node.js: one thread with an event loop.
//
// server SERVICE NS KEEP_ALIVE, with the listening socket as standard input. SERVICE is nothing, wait,
// compute or mixed. SIGTERM ends it.
"use strict";
const [service, ns, keepAlive] = process.argv.slice(2);
const needMs = Number(ns) / 1e6;
const body = "weighed and not wanting";
const head = { "Content-Type": "text/plain", "Content-Length": body.length };
if (keepAlive !== "yes") head.Connection = "close";
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
  if (service === "compute" || (service === "mixed" && ++asked % 10 === 0)) {
    compute();
    answer();
  } else if (service === "nothing") {
    answer();
  } else {
    setTimeout(answer, needMs);
  }
});
server.keepAliveTimeout = 0;
server.listen({ fd: 0 });
