/** A JSON Schema, as it is sent to the model. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The interface of Standard Schema (standardschema.dev, version 1), which Zod, Valibot, ArkType and others implement.
 * Declared here so that no package is needed for it.
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Standard JSON Schema: if a library implements it, the tool needs no `jsonSchema` of its own. */
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
      | undefined;
  };
}

/** The validated value, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong with a value, and where in the value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema produces for valid input. */
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  // ArkType's schemas are functions.
  const known = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  return known && typeof (schema as Partial<StandardSchema>)["~standard"]?.validate === "function";
}

/** The issues as one line for the model: where, and what is wrong. */
export function issuesText(issues: readonly StandardIssue[]): string {
  return issues
    .map(({ path, message }) => {
      const place = (path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".");
      return place === "" ? message : `${place}: ${message}`;
    })
    .join("; ");
}
