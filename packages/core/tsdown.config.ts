import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library(
  "neutral",
  "src/index.ts",
  "src/format-kit.ts",
  "src/processors.ts",
  "src/store-kit.ts",
);
export default config;
