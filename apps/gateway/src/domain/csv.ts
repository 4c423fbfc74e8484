const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const cellOf = (value: unknown): string => {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'object' ? quoted(JSON.stringify(value)) : String(value);
};

/** A record as CSV (RFC 4180): a line of names and a line of values. Arrays and objects are written as JSON. */
export const csvOf = (record: object): string =>
  [Object.keys(record).map(quoted), Object.values(record).map(cellOf)].map((line) => `${line.join(',')}\r\n`).join('');
