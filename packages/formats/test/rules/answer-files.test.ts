import { assistant, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";

const madeImage = { type: "file" as const, data: "aGk=", mediaType: "image/png" };

describeRule("answer-files", [
  {
    breaks: "an image that the model made",
    messages: [user("a"), assistant([{ type: "text", text: "b" }, madeImage]), user("c")],
    index: 1,
    refusedBy: ["bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
]);
