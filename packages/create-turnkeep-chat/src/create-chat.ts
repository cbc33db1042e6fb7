import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const template = fileURLToPath(new URL("../template", import.meta.url));

/** npm leaves a file of this name out of packages, so that the template cannot have one. */
const ignored = ["node_modules/", "dist/", "data/", ".env"];

/** Why no chat could be created, in a sentence for who asked for it. */
export class CreateError extends Error {
  override readonly name = "CreateError";
}

/**
 * Writes a new chat into a folder, which is made if it is not there, and answers the chat's name, which is the folder's.
 * Nothing is installed. `versions` says what the chat depends on; default: the versions that this package was tested with.
 *
 * Errors: `CreateError` if the folder is a file or not empty (a `.git` may be there), or its name is none for a package.
 *
 * @example
 * ```ts
 * import { createChat } from "create-turnkeep-chat";
 *
 * console.log(createChat("my-chat")); // my-chat
 * ```
 */
export function createChat(
  folder: string,
  versions: Readonly<Record<string, string>> = ownVersions(),
): string {
  const target = resolve(folder);
  const name = basename(target);
  checkName(name);
  checkEmpty(target);
  cpSync(template, target, { recursive: true });
  const file = join(target, "package.json");
  writeFileSync(file, `${JSON.stringify(manifestOf(file, name, versions), null, 2)}\n`);
  writeFileSync(join(target, ".gitignore"), `${ignored.join("\n")}\n`);
  return name;
}

function checkName(name: string): void {
  if (/^[a-z\d][a-z\d._-]{0,213}$/.test(name) && name !== "node_modules") return;
  const said = JSON.stringify(name);
  throw new CreateError(
    `${said} is no name for a package. Use small letters, digits, "-", "_" and ".", such as my-chat.`,
  );
}

function checkEmpty(target: string): void {
  if (!existsSync(target)) return;
  if (!statSync(target).isDirectory()) throw new CreateError(`${target} is a file. Name another folder.`);
  const [first] = readdirSync(target).filter((entry) => entry !== ".git");
  if (first !== undefined)
    throw new CreateError(`${target} is not empty: it holds ${first}. Name another folder.`);
}

/** The template's manifest, which names what it depends on, with the versions. */
function manifestOf(file: string, name: string, versions: Readonly<Record<string, string>>): object {
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest;
  const withVersions = (names: object): object =>
    Object.fromEntries(Object.keys(names).map((each) => [each, versions[each]]));
  return {
    ...manifest,
    name,
    dependencies: withVersions(manifest.dependencies),
    devDependencies: withVersions(manifest.devDependencies),
  };
}

interface Manifest {
  readonly dependencies: object;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** This package is developed with what its template needs, so its published manifest has the versions. */
function ownVersions(): Readonly<Record<string, string>> {
  const own = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(own, "utf8")) as Manifest).devDependencies;
}
