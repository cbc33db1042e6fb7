import { startMariaDb } from "./src/index.ts";
const server = await startMariaDb({ release: "11.4", sources: ["cache"] });
console.log(server.url, server.version);
await new Promise((r) => setTimeout(r, Number(process.argv[2])));
await server.stop();
