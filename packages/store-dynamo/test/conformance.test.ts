import { describeGroups, ofMany } from "./conformance.ts";

describeGroups((group) => !ofMany.includes(group));
