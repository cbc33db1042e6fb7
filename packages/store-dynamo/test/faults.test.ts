import { startDynamo } from "@turnkeep/servers";
import { describeFaults, describeLoad, type StoreTarget } from "@turnkeep/store-tests";
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
// Nobody kills the server here, and one that keeps its data in memory answers sooner.
describeLoad({ ...target, start: () => startDynamo({ sources: ["cache"] }) });
