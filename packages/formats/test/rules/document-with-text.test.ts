import { describeRule } from "./describe-rule.ts";
import { document } from "./samples.ts";

describeRule("document-with-text", [
  {
    breaks: "a document without a text",
    messages: [document],
    index: 0,
    refusedBy: ["bedrock", "strict"],
    becomes: [
      {
        role: "user",
        content: [
          { type: "file", data: "JVBERi0=", mediaType: "application/pdf" },
          { type: "text", text: "(A file is attached.)" },
        ],
      },
    ],
  },
  {
    breaks: "a document beside a text of blanks",
    messages: [{ role: "user", content: [document.content[0] as never, { type: "text", text: " " }] }],
    index: 0,
    refusedBy: ["bedrock", "strict"],
    becomes: [
      {
        role: "user",
        content: [
          document.content[0] as never,
          { type: "text", text: " " },
          { type: "text", text: "(A file is attached.)" },
        ],
      },
    ],
  },
]);
