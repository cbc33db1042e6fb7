import type { ChatMemoryStore } from "@turnkeep/core";
import { postgresStore } from "../src/index.ts";

/** A client in a thread of its own, for the conformance kit. */
export default (url: string): ChatMemoryStore => postgresStore({ url });
