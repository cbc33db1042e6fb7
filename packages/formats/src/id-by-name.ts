/**
 * Some calls have no id; then the tool's name pairs call and result, and the first result of a name answers the first call
 * of it. A blank keeps the id made of a name apart from every id that a model gives.
 */
export function idByName(name: string): string {
  return `tool ${name}`;
}
