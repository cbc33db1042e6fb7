import { isTurnkeepError, type TurnkeepError } from "../errors.ts";

/**
 * Makes every error of these methods of a class name the memory and the call, and gives its stack the caller's frames:
 * calls wait for each other, so the engine has lost them. What another call has told stays as it is. Answers the class, so
 * that a bundle without it needs no such call.
 */
/* @__NO_SIDE_EFFECTS__ */
export function tellCalls<
  Calls extends string,
  Class extends { readonly prototype: { readonly id?: string } & Record<Calls, Told> },
>(told: Class, calls: readonly Calls[]): Class {
  for (const call of calls) {
    const work: Told = told.prototype[call];
    Object.defineProperty(told.prototype, call, {
      configurable: true,
      writable: true,
      async value(this: { readonly id?: string }, ...args: never[]): Promise<unknown> {
        try {
          return await work.apply(this, args);
        } catch (error) {
          if (isTurnkeepError(error) && !Object.isFrozen(error)) tell(error, this.id, call, new Error());
          throw error;
        }
      },
    });
  }
  return told;
}

type Told = (...args: never[]) => Promise<unknown>;

function tell(error: TurnkeepError, memoryId: string | undefined, call: string, here: Error): void {
  const { details, stack } = error;
  if (details.call !== undefined) return;
  const where = memoryId === undefined ? { call } : { memoryId, call };
  Object.assign(error, { details: { ...where, ...details } });
  // An application may have its stacks written in another way (`Error.prepareStackTrace`), also as no text at all.
  if (typeof stack === "string" && typeof here.stack === "string")
    error.stack = `${stack}${framesOfCaller(here.stack)}`;
}

/** Those who wait for the call, as V8 writes them: behind a first line and the frame where the error was made. */
function framesOfCaller(stack: string): string {
  const [first, , ...callers] = stack.split("\n");
  return first?.startsWith("Error") ? callers.map((line) => `\n${line}`).join("") : "";
}
