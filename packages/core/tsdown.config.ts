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
    // Each file costs time when it is imported: what entries share is two files, of which a format needs one.
    codeSplitting: {
      groups: [
        { name: "format", minShareCount: 3, test: /src\/format\/.*(?<!\.d)\.ts$/, priority: 1 },
        { name: "shared", minShareCount: 2, test: /(?<!\.d)\.ts$/ },
      ],
    },
  },
};
export default config;
