import { assistant, type ModelMessage, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { call } from "./samples.ts";

const foundFiles: ModelMessage = {
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId: "toolu_1",
      toolName: "search",
      output: {
        type: "content",
        value: [
          { type: "file-data", data: "JVBERi0=", mediaType: "application/pdf", filename: "a.pdf" },
          { type: "file-data", data: "iVBORw0KGgo=", mediaType: "image/png", filename: "a.png" },
        ],
      },
    },
  ],
};

const named = (filename: string, text = "a"): ModelMessage => ({
  role: "user",
  content: [
    { type: "file", data: "JVBERi0=", mediaType: "application/pdf", filename },
    { type: "text", text },
  ],
});

describeRule("document-names", [
  {
    breaks: "two documents of one name but for its extension and case",
    messages: [
      named("report.pdf"),
      assistant("b"),
      named("Report.docx"),
      assistant("b"),
      named("report.pdf"),
    ],
    index: 2,
    refusedBy: ["bedrock", "strict"],
    becomes: [
      named("report.pdf"),
      assistant("b"),
      named("(2) Report.docx"),
      assistant("b"),
      named("(3) report.pdf"),
    ],
  },
  {
    breaks: "two documents of one name as far as a provider reads it",
    messages: [named(`${"a".repeat(200)}1.pdf`), assistant("b"), named(`${"a".repeat(200)}2.pdf`)],
    index: 2,
    refusedBy: ["bedrock", "strict"],
    becomes: [named(`${"a".repeat(200)}1.pdf`), assistant("b"), named(`(2) ${"a".repeat(200)}2.pdf`)],
  },
  {
    breaks: "a document of the name of a tool's",
    messages: [user("a"), call, foundFiles, assistant("b"), named("a.pdf")],
    index: 4,
    refusedBy: ["bedrock", "strict"],
    becomes: [user("a"), call, foundFiles, assistant("b"), named("(2) a.pdf")],
  },
]);
