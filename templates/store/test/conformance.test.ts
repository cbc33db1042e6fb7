import { describeConformance } from "@turnkeep/conformance/vitest";
import harness from "./harness.ts";

describeConformance("MariaDB", harness);
