import { startDynamo } from "@turnkeep/servers";
import { describeFaults, describeLoad, type StoreTarget } from "@turnkeep/store-tests";
import { inject } from "vitest";
import { openStore } from "./target.ts";

const target: StoreTarget = {
  name: "DynamoDB",
  start: () => startDynamo({ sources: ["cache"], durable: true }),
  // DynamoDB Local answers a transaction before it is in its file; the service writes to several places first.
  mayForgetLast: true,
  openStore,
  writer: new URL("./writer.ts", import.meta.url),
};

describeFaults(target);
// The server of the other tests keeps its data in memory, and answers sooner.
describeLoad({ ...target, start: async () => ({ url: inject("dynamoUrl"), stop: async () => {} }) });
