import { startMongo } from "@turnkeep/servers";
import { describeFaults, describeLoad, type StoreTarget } from "@turnkeep/store-tests";
import { openStore } from "./target.ts";

const target: StoreTarget = {
  name: "MongoDB",
  start: () => startMongo({ sources: ["machine", "cache"] }),
  openStore,
  writer: new URL("./writer.ts", import.meta.url),
};

describeFaults(target);
describeLoad(target);
