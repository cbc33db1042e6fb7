import { runWriter } from "@turnkeep/store-tests/writer";
import { openStore } from "./target.ts";

await runWriter(openStore);
