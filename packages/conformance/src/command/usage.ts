export const usage: string = `turnkeep-conformance ./my-store.ts [options]

  Runs the conformance kit of Turnkeep over a store, and reports which sentences of the store contract it
  keeps: with what was expected and what was seen where it keeps one not.

  ./my-store.ts is a file of TypeScript or JavaScript. Its default export is a harness, an object with
  create(), or a function that makes one.

  --group GROUP   only this group of cases; may be given again
  --name TEXT     only cases with this text in their name; may be given again
  --seed N        repeat the chances of an earlier run, whose report named the seed
  --path PATH     with --seed: repeat exactly the calls of a failed sequence, whose report named the path
  --timeout MS    how long one case may take; heavy ones five times as long; default 60000
  --total MS      how long the run may take; the report then says what it had no time for
  --bail N        end the run after N failed cases
  --json FILE     write the report as JSON
  --badge FILE    write a badge as SVG
  -h, --help      this text
  -v, --version   the version

  Each case that fails is named on the standard error as soon as it ends; the report comes at the end. Ctrl+C
  ends the run after the present case, with what has failed until then.

  A store conforms if all cases of the kit have passed. The report and the badge say what the harness does not
  offer, so that nobody has tried it.

  Exit status: 0 when every case passed that was chosen, 1 when one did not or had no time, 2 when the kit could
  not run: a wrong command line, a file that cannot be loaded, a harness that fails, a process that was ended.
`;
