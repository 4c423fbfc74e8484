const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const cellOf = (value: unknown): string => {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'object' ? quote(JSON.stringify(value)) : String(value);
};

/**
 * An object as CSV (RFC 4180): a line with the names of its properties and a line with their values. Arrays and objects are written as
 * JSON.
 */
export const csvOfRecord = (record: object): string =>
  [Object.keys(record).map(quote), Object.values(record).map(cellOf)].map((line) => `${line.join(',')}\r\n`).join('');
