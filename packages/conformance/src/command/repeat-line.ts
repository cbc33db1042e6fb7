import type { RepeatOptions } from "../support/expect.ts";

/** The command that repeats a failure of this file's harness, to be copied into a shell. */
export function repeatLine(file: string, timeout: string | undefined, again: RepeatOptions): string {
  const { names, seed, path } = again;
  const flags = [
    ...names.flatMap((name) => ["--name", quoted(name)]),
    // A shell passes a negative number on as another flag.
    `--seed=${seed}`,
    ...(path === undefined ? [] : ["--path", path]),
    ...(timeout === undefined ? [] : ["--timeout", timeout]),
  ];
  return `npx turnkeep-conformance ${quoted(file)} ${flags.join(" ")}`;
}

/** Double quotes serve every shell, Windows' too, as long as nothing within means anything to them. */
function quoted(text: string): string {
  if (/^[\w./:@-]+$/.test(text)) return text;
  return /^[\w ./:@,;()'-]+$/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}
