import { describe, expect, it } from "vitest";
import { examplesOf } from "../src/published/examples.mjs";
import { complaintsOf, treeOf } from "../src/published/project.mjs";

const fence = "```";

describe("the examples of a document", () => {
  it("are the blocks that say so, with what they print", () => {
    const markdown = [
      "# Title",
      "<!-- example: @turnkeep/core, pg -->",
      "",
      `${fence}ts`,
      "# no title",
      "<!-- output -->",
      "console.log(1);",
      fence,
      "<!-- output -->",
      `${fence}text`,
      "1",
      fence,
      `${fence}ts`,
      "not(run);",
      fence,
      "## Second",
      "<!-- example: @turnkeep/core -->",
      `${fence}ts`,
      "run();",
      fence,
    ].join("\n");
    expect(examplesOf(markdown)).toEqual([
      {
        title: "Title",
        line: 5,
        packages: ["@turnkeep/core", "pg"],
        code: "# no title\n<!-- output -->\nconsole.log(1);\n",
        output: "1\n",
      },
      { title: "Second", line: 19, packages: ["@turnkeep/core"], code: "run();\n", output: undefined },
    ]);
  });

  it.each([
    ["an example without code", "<!-- example: @turnkeep/core -->\nText.\n"],
    ["an example in another language", `<!-- example: @turnkeep/core -->\n${fence}sh\nls\n${fence}\n`],
    ["a block that never ends", `<!-- example: @turnkeep/core -->\n${fence}ts\nrun();\n`],
    ["the output of nothing", `<!-- output -->\n${fence}text\n1\n${fence}\n`],
  ])("cannot be %s", (_what, markdown) => {
    expect(() => examplesOf(markdown)).toThrow(/^Line 1 /);
  });
});

it("takes every complaint of the type checker for ours, but those within another library", () => {
  const ours = [
    "example.ts(2,1): error TS2345: Wrong.\n  Because of this.",
    "node_modules/@turnkeep/core/dist/index.d.ts(1,1): error TS2304: Cannot find name 'A'.",
    "node_modules/turnkeep/dist/index.d.ts(1,1): error TS2304: Cannot find name 'B'.",
    "error TS5023: Unknown compiler option 'x'.",
  ];
  const theirs =
    "node_modules/turnkeep-like/index.d.ts(1,1): error TS2503: Cannot find namespace 'C'.\n  Nor this.";
  expect(complaintsOf(`${[theirs, ...ours, theirs].join("\n")}\n`)).toEqual(ours);
  expect(complaintsOf("")).toEqual([]);
});

it("knows what a package brings with it", () => {
  const installed = new Map([
    ["pg", ["pg-pool", "pg-native"]],
    ["pg-pool", ["pg"]],
    ["left-pad", []],
  ]);
  expect([...treeOf(["pg"], installed)]).toEqual(["pg", "pg-pool"]);
});
