import { TurnkeepError } from "@turnkeep/core/store-kit";

/** The options of a run name a path that its case does not have. It ends the run: no store is at fault. */
export class PathError extends TurnkeepError {
  constructor(name: string, seed: number, path: string) {
    super(
      "INVALID_OPTION",
      `The path ${path} leads nowhere in the case "${name}" with the seed ${seed}: ` +
        "give the path, the seed and the name that a failed case printed together.",
    );
  }
}
