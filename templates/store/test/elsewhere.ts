import type { ChatMemoryStore } from "@turnkeep/core";
import { mariaDbStore } from "../src/index.ts";

/** A client in a thread of its own, for the conformance kit: `data` is the database's URL. */
export default (url: string): ChatMemoryStore => mariaDbStore({ url });
