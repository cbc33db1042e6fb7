/** Colours of a terminal, or none. */
export interface Style {
  readonly title: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly came: (text: string) => string;
  readonly shown: (text: string) => string;
  readonly left: (text: string) => string;
  readonly kept: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
}

const painted = (codes: string) => (text: string) => `\u001b[${codes}m${text}\u001b[0m`;
const plain = (text: string): string => text;

export function styleOf(colour: boolean): Style {
  const paint = (codes: string): ((text: string) => string) => (colour ? painted(codes) : plain);
  return {
    title: paint("1"),
    dim: paint("2"),
    came: paint("36"),
    shown: paint("34"),
    left: paint("33"),
    kept: paint("35"),
    good: paint("1;32"),
    bad: paint("1;31"),
  };
}

/** Colours where a person looks at a terminal: not in a pipe, not with `NO_COLOR`; `FORCE_COLOR` asks for them. */
export function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return isTerminal && env.TERM !== "dumb";
}
