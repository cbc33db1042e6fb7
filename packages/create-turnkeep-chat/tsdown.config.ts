import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library("node", "src/index.ts", "src/bin.ts");
export default config;
