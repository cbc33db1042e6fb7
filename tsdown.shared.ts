import { defineConfig, type UserConfig } from "tsdown";

/** One build for every package: ESM with declarations, in the file names that the manifests name. */
export function library(platform: "neutral" | "node", ...entry: string[]): UserConfig {
  return defineConfig({
    entry,
    platform,
    format: "esm",
    fixedExtension: false,
    target: "node20.19",
    dts: true,
    // `Symbol.asyncDispose`, whatever `lib` a user's project has.
    banner: { dts: '/// <reference lib="esnext.disposable" />' },
    clean: true,
  });
}
