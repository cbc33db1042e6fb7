import { bundled } from "@turnkeep/store-tests/processes";
import type { TestProject } from "vitest/node";

/** Builds what tests start, once for all files: the command as a user starts it, and a server that has a folder open. */
export default async function buildPrograms(project: TestProject): Promise<void> {
  const [command, server] = await Promise.all([
    bundled(new URL("../src/bin.ts", import.meta.url)),
    bundled(new URL("folder-server.ts", import.meta.url)),
  ]);
  project.provide("programs", { command, server });
}

declare module "vitest" {
  interface ProvidedContext {
    programs: { readonly command: string; readonly server: string };
  }
}
