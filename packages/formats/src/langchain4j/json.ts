import { TurnkeepError } from "@turnkeep/core";

/** A number as it was spelled: `1.50` is a text in some places, and `1.0` is not `1` in Java. */
export class JsonNumber {
  readonly spelling: string;
  constructor(spelling: string) {
    this.spelling = spelling;
  }
}

/** An object with its members as they stood, repeated ones too. */
export class JsonObject {
  readonly members: readonly (readonly [name: string, value: JsonNode])[];
  constructor(members: readonly (readonly [name: string, value: JsonNode])[]) {
    this.members = members;
  }
}

export type JsonNode = null | boolean | string | JsonNumber | readonly JsonNode[] | JsonObject;

/** The limits of LangChain4j's JSON library. */
export const maxDepth = 1000;
const maxNumberLength = 1000;

const blanks = /[ \t\n\r]*/y;
const numbers = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words = /[\w$]+/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what JSON asks to be escaped
const plainText = /[^"\\\u0000-\u001f]*/y;

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/**
 * Reads the first JSON value of a text, as LangChain4j does: what follows it is ignored. Throws `INVALID_MESSAGE`,
 * which tells the place and never the text.
 */
export function readJson(text: string): JsonNode {
  return new JsonReader(text).value(0);
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonNode {
    if (depth > maxDepth) throw this.#broken(`is nested deeper than ${maxDepth}`);
    this.#skip(blanks);
    const next = this.#text[this.#at];
    if (next === undefined) throw this.#broken("ends where a value must stand");
    if (next === '"') return this.#string();
    if (next === "{") return this.#object(depth);
    if (next === "[") return this.#array(depth);
    return next === "-" || (next >= "0" && next <= "9") ? this.#number() : this.#word();
  }

  #object(depth: number): JsonObject {
    const members: (readonly [string, JsonNode])[] = [];
    this.#at += 1;
    if (this.#takes("}")) return new JsonObject(members);
    do {
      this.#skip(blanks);
      if (this.#text[this.#at] !== '"') throw this.#broken("has no member's name where one must stand");
      const name = this.#string();
      if (!this.#takes(":")) throw this.#broken("has no colon after a member's name");
      members.push([name, this.value(depth + 1)]);
    } while (this.#takes(","));
    if (!this.#takes("}")) throw this.#broken("has an object that does not end");
    return new JsonObject(members);
  }

  #array(depth: number): JsonNode[] {
    const items: JsonNode[] = [];
    this.#at += 1;
    if (this.#takes("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.#takes(","));
    if (!this.#takes("]")) throw this.#broken("has a list that does not end");
    return items;
  }

  #string(): string {
    this.#at += 1;
    let value = "";
    for (;;) {
      value += this.#skip(plainText);
      const next = this.#text[this.#at];
      if (next === '"') {
        this.#at += 1;
        return value;
      }
      if (next !== "\\")
        throw this.#broken("has a string that does not end, or an unescaped control character");
      value += this.#escape();
    }
  }

  #escape(): string {
    const name = this.#text[this.#at + 1] ?? "";
    if (name === "u") {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#broken("has a broken escape");
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = escapes.get(name);
    if (character === undefined) throw this.#broken("has an unknown escape");
    this.#at += 2;
    return character;
  }

  #number(): JsonNumber {
    const spelling = this.#skip(numbers);
    if (spelling === "") throw this.#broken("has a broken number");
    if (spelling.length > maxNumberLength) {
      throw this.#broken(`has a number of more than ${maxNumberLength} characters`);
    }
    return new JsonNumber(spelling);
  }

  #word(): null | boolean {
    const start = this.#at;
    const word = this.#skip(words);
    if (word === "null") return null;
    if (word === "true" || word === "false") return word === "true";
    this.#at = start;
    throw this.#broken("has something that is no value");
  }

  /** Takes blanks, and the character if it stands there. */
  #takes(character: string): boolean {
    this.#skip(blanks);
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #broken(what: string): TurnkeepError {
    return new TurnkeepError(
      "INVALID_MESSAGE",
      `The JSON text ${what}, at character ${this.#at}. Give what LangChain4j's ChatMessageSerializer wrote.`,
    );
  }
}
