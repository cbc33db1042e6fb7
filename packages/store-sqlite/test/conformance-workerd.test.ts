import { bundled } from "@turnkeep/store-tests/processes";
import { describeElsewhere, groupsElsewhere } from "./elsewhere.ts";

const program = new URL("workerd.ts", import.meta.url);
const worker = new URL("worker.ts", import.meta.url);

for (const [name, kind] of [
  ["Cloudflare D1, in workerd", "d1"],
  ["a Durable Object's storage, in workerd", "object"],
] as const) {
  describeElsewhere(
    name,
    program,
    async () => [kind, await bundled(worker, { brings: /./ })],
    groupsElsewhere,
  );
}
