import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library(
  "node",
  ...["src/index.ts", "src/vitest.ts", "src/node-test.ts", "src/bin.ts", "src/elsewhere-worker.ts"],
);
export default config;
