import type { ConformanceGroup } from "@turnkeep/conformance";
import { bundled } from "@turnkeep/store-tests/processes";
import { describeElsewhere } from "./elsewhere.ts";

const program = new URL("workerd.ts", import.meta.url);
const worker = new URL("worker.ts", import.meta.url);

// The same engine: what may differ is how a driver sends and answers. All groups: see CONTRIBUTING.md.
const ofAnotherDriver: readonly ConformanceGroup[] | undefined = process.env.TURNKEEP_THOROUGH
  ? undefined
  : ["basic", "atomicity", "versions", "replay", "lifecycle"];

for (const [name, kind] of [
  ["Cloudflare D1, in workerd", "d1"],
  ["a Durable Object's storage, in workerd", "object"],
] as const) {
  describeElsewhere(
    name,
    program,
    async () => [kind, await bundled(worker, { brings: /./ })],
    ofAnotherDriver,
  );
}
