/** Truncates text to `length` characters, with an ellipsis for the rest. */
export const truncate = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;

/** A value of a request as JSON, short enough for a message. */
export const quoteValue = (value: unknown): string => truncate(JSON.stringify(value) ?? String(value), 200);
