import { describeTurns } from "@turnkeep/store-tests";
import { newDatabase } from "./server.ts";
import { openStore } from "./target.ts";

describeTurns({ newUrl: newDatabase, openStore, turner: new URL("turner.ts", import.meta.url) });
