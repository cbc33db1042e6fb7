/** Messages of one kind of part each, by the format and the kind's name in the documents. */
export type Samples<M> = Readonly<Record<string, readonly M[]>>;

export const png: string =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
export const pdf: string = "JVBERi0xLjQ=";
export const link: string = "https://example.org/a.png";
export const pdfLink: string = "https://example.org/a.pdf";
