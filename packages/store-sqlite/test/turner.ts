import { runTurner } from "@turnkeep/store-tests/turner";
import { openStore } from "./target.ts";

await runTurner(openStore);
