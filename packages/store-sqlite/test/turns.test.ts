import { describeTurns } from "@turnkeep/store-tests";
import { newFile } from "./support.ts";
import { openStore } from "./target.ts";

const file = newFile();

describeTurns({ newUrl: () => file, openStore, turner: new URL("turner.ts", import.meta.url) });
