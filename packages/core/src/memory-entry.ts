declare const entryBrand: unique symbol;

/** One value for each message: `[Value]` for one, `Value[]` for a list that is spread. */
export type Each<Messages extends unknown[], Value> = { [Place in keyof Messages]: Value };

/** A message with your own id, the model and the tools that it was made with, or when it was said. Made by {@link entry}. */
export interface Entry<M> {
  readonly [entryBrand]: true;
  readonly message: M;
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly toolsKey: string | undefined;
  readonly createdAt: number | undefined;
}
