import type { ChatMemoryStore } from "@turnkeep/core";
import { mongoStore } from "../src/index.ts";

/** A client in a thread of its own, for the conformance kit. */
export default (place: { url: string; database: string }): ChatMemoryStore => mongoStore(place);
