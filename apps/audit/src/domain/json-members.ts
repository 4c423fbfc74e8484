/** A member of a value that may be no object: the shape of event data is up to its producer. */
export const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

/** The text of a scalar; undefined for an empty text, an object or null. */
export const scalarText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
};

/** The text of a scalar member. */
export const textOf = (value: unknown, key: string): string | undefined => scalarText(memberOf(value, key));

/** A member that is a list; an empty one where it is none. */
export const listOf = (value: unknown, key: string): readonly unknown[] => {
  const list = memberOf(value, key);
  return Array.isArray(list) ? list : [];
};
