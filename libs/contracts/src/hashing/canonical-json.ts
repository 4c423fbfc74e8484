const withSortedKeys = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withSortedKeys);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, withSortedKeys(member)]));
};

/** Serializes a value as JSON with sorted object keys, so that equal values give equal text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(withSortedKeys(value)) ?? 'null';
