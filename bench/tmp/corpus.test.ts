import { endlessConversation } from "../src/corpus.ts"; import { writeFileSync } from "node:fs"; import {test} from "vitest";
test("x",()=>{ const c=endlessConversation(); writeFileSync("/tmp/hot-corpus.json", JSON.stringify(Array.from({length:6000},()=>c.next().value))); });
