/**
 * @typedef {object} Example a program in a document, with what it must print
 * @property {string} title the heading above it
 * @property {number} line where its code begins
 * @property {readonly string[]} packages what a user installs for it
 * @property {string} code
 * @property {string | undefined} output what the document says that it prints, if it says so
 */

const start = /^<!--\s*example:\s*(.+?)\s*-->$/;
const printed = /^<!--\s*output\s*-->$/;

/**
 * The programs of a Markdown document that are meant to be run: each code block behind a comment
 * `<!-- example: @turnkeep/core, pg -->`, which names what is installed for it, and, if another comment
 * `<!-- output -->` follows, the block behind that as what it prints.
 *
 * @param {string} markdown
 * @returns {Example[]}
 */
export function examplesOf(markdown) {
  const lines = markdown.split("\n");
  /** @type {Example[]} */
  const examples = [];
  let title = "";
  let fence = "";
  for (const [index, line] of lines.entries()) {
    if (fence !== "") {
      if (line === fence) fence = "";
      continue;
    }
    fence = /^(`{3,})/.exec(line)?.[1] ?? "";
    title = /^#+\s+(.*)$/.exec(line)?.[1] ?? title;
    const packages = start.exec(line)?.[1]?.split(/\s*,\s*/);
    if (packages !== undefined) {
      const { text, line: at } = blockAfter(lines, index, /^(?:ts|typescript)$/);
      examples.push({ title, line: at, packages, code: text, output: undefined });
    } else if (printed.test(line)) {
      const last = examples.pop();
      if (last === undefined) throw new Error(`Line ${index + 1} gives the output of no example.`);
      examples.push({ ...last, output: blockAfter(lines, index, /^(?:text|console)?$/).text });
    }
  }
  return examples;
}

/**
 * The code block behind a comment, with blank lines at most between them.
 *
 * @param {readonly string[]} lines
 * @param {number} index the comment's
 * @param {RegExp} language
 */
function blockAfter(lines, index, language) {
  let at = index + 1;
  while (lines[at]?.trim() === "") at += 1;
  const [, fence = "", name = ""] = /^(`{3,})(\S*)/.exec(lines[at] ?? "") ?? [];
  const end = lines.indexOf(fence, at + 1);
  if (fence === "" || !language.test(name) || end === -1) {
    throw new Error(`Line ${index + 1} announces a code block (${language.source}), but none follows.`);
  }
  return { text: `${lines.slice(at + 1, end).join("\n")}\n`, line: at + 2 };
}
