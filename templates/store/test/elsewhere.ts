import type { ChatMemoryStore } from "@turnkeep/core";
import { sqliteStore } from "../src/index.ts";

/** A client in a thread of its own, for the conformance kit: `data` is the file's URL. */
export default (url: string): ChatMemoryStore => sqliteStore({ url });
