import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const built = library(
  "neutral",
  "src/index.ts",
  "src/format-kit.ts",
  "src/processors.ts",
  "src/store-kit.ts",
);

const config: UserConfig = {
  ...built,
  outputOptions: {
    ...built.outputOptions,
    // Each file costs time when it is imported: all that entries share is one.
    codeSplitting: { groups: [{ name: "shared", minShareCount: 2, test: /(?<!\.d)\.ts$/ }] },
  },
};
export default config;
