import type { ChatMemoryStore } from "@turnkeep/core";
import { dynamoStore } from "../src/index.ts";

/** A client in a thread of its own, for the conformance kit. */
export default (place: { url: string; tableName: string }): ChatMemoryStore => dynamoStore(place);
