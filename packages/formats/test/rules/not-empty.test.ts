import { system } from "@turnkeep/core";
import { describeRule, everybody } from "./describe-rule.ts";

describeRule("not-empty", [
  { breaks: "no message", messages: [], index: 0, refusedBy: everybody, becomes: [] },
  {
    breaks: "a system message alone",
    messages: [system("Be brief.")],
    index: 0,
    refusedBy: everybody,
    becomes: [system("Be brief.")],
  },
]);
