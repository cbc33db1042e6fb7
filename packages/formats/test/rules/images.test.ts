import { describeRule } from "./describe-rule.ts";

const image = { type: "image" as const, image: "iVBORw0KGgo=", mediaType: "image/png" };

describeRule("images", [
  {
    breaks: "21 images in a message",
    messages: [{ role: "user", content: Array.from({ length: 21 }, () => image) }],
    index: 0,
    refusedBy: ["bedrock", "strict"],
    exceeds: 21,
  },
]);
