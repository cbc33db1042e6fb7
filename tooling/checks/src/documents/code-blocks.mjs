/**
 * @typedef {object} CodeBlock TypeScript that a document shows
 * @property {string} file
 * @property {number} line of the file, where the code begins
 * @property {string} code
 */

/**
 * The TypeScript blocks of a Markdown document. A block fenced as `ts no-check`, a fragment that cannot stand
 * alone, is none.
 *
 * @param {string} file
 * @param {string} markdown
 * @returns {CodeBlock[]}
 */
export function blocksOfMarkdown(file, markdown) {
  return blocksOfLines(file, markdown.split("\n"), 1);
}

/**
 * The TypeScript blocks in the docstrings of a source file.
 *
 * @param {string} file
 * @param {string} source
 * @returns {CodeBlock[]}
 */
export function blocksOfSource(file, source) {
  return [...source.matchAll(/^[ \t]*\/\*\*[\s\S]*?\*\//gm)].flatMap((docstring) => {
    const lines = docstring[0].split("\n").map((line) => line.replace(/^\s*\*(?!\/) ?/, ""));
    return blocksOfLines(file, lines, source.slice(0, docstring.index).split("\n").length);
  });
}

/**
 * @param {string} file
 * @param {readonly string[]} lines
 * @param {number} first the number of the first line
 * @returns {CodeBlock[]}
 */
function blocksOfLines(file, lines, first) {
  /** @type {CodeBlock[]} */
  const blocks = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = "", fence, info = ""] = /^(\s*)(`{3,})(.*)$/.exec(lines[at] ?? "") ?? [];
    if (fence === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence);
    if (end === -1) throw new Error(`${file}:${first + at} begins a code block that never ends.`);
    if (/^(?:ts|typescript)\s*$/.test(info)) {
      const code = lines.slice(at + 1, end).map((line) => line.replace(indent, ""));
      blocks.push({ file, line: first + at + 1, code: `${code.join("\n")}\n` });
    }
    at = end;
  }
  return blocks;
}
