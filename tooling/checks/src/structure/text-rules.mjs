/**
 * A folder of one person's machine, or what a program once made in a folder for temporary files. Folders that every
 * system of a kind has, such as /usr/bin, are no such thing.
 */
const machinePath =
  /(?<![\w.~*-])\/(?:root\/|work\/|(?:home|Users)\/[\w.-]+\/|tmp\/[\w.-])|\b[A-Z]:\\+Users\\/;

/** Written in pieces, so that this file does not break its own rule. */
const registryHosts = [
  ["registry", "npmjs", "org"],
  ["registry", "yarnpkg", "com"],
  ["npm", "pkg", "github", "com"],
  ["pypi", "org"],
  ["files", "pythonhosted", "org"],
  ["crates", "io"],
  ["proxy", "golang", "org"],
  ["repo", "maven", "apache", "org"],
  ["repo1", "maven", "org"],
  ["deb", "debian", "org"],
].map((pieces) => pieces.join("."));

/**
 * No file names a folder of somebody's machine.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function noMachinePaths(tree) {
  return linesOf(tree).flatMap(({ at, line }) => {
    const found = machinePath.exec(line)?.[0];
    return found === undefined
      ? []
      : [`${at} names a folder of one machine (${found}): use a relative path.`];
  });
}

/**
 * No file names a package registry's host, nor does a lock file pin where a package is fetched from: whoever
 * installs chooses the registry.
 *
 * @type {import("./tree.mjs").Rule}
 */
export function noRegistryHosts(tree) {
  return linesOf(tree).flatMap(({ at, file, line }) => {
    const host = registryHosts.find((name) => line.includes(name));
    if (host !== undefined) return [`${at} names the registry host ${host}: leave it out.`];
    const pinned = /(?:^|\/)(?:pnpm-lock\.yaml|package-lock\.json|yarn\.lock)$/.test(file);
    if (pinned && /\b(?:tarball|resolved)\b.*https?:/.test(line)) return [`${at} pins a download address.`];
    return [];
  });
}

/**
 * @param {import("./tree.mjs").Tree} tree
 * @returns {{ at: string, file: string, line: string }[]}
 */
function linesOf(tree) {
  return tree.files.flatMap((file) => {
    const text = tree.read(file);
    if (text.includes("\0")) return [];
    return text.split("\n").map((line, index) => ({ at: `${file}:${index + 1}`, file, line }));
  });
}
