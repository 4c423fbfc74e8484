/** Truncates a text to `length` UTF-16 units, with an ellipsis for the rest. */
export const truncate = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;

/** A value of a request as JSON, truncated for messages. */
export const quoteValue = (value: unknown): string => truncate(JSON.stringify(value) ?? String(value), 200);
