import { startRedis } from "@turnkeep/servers";
import { describeFaults, describeLoad, type StoreTarget } from "@turnkeep/store-tests";
import { openStore } from "./target.ts";

const target: StoreTarget = {
  name: "Redis",
  start: () => startRedis({ sources: ["machine", "cache"], appendfsync: "always" }),
  openStore,
  writer: new URL("./writer.ts", import.meta.url),
};

describeFaults(target);
describeLoad(target);
