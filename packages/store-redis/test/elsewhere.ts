import type { ChatMemoryStore } from "@turnkeep/core";
import { redisStore } from "../src/index.ts";

/** A client in a thread of its own, for the conformance kit. */
export default (place: { url: string; prefix: string }): ChatMemoryStore => redisStore(place);
