/** A member of what may be an object, or may be anything else: event data has the shape that its producer gave it. */
export const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

/** A value as people read it; nothing where there is nothing to read. */
export const readable = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
};

/** A member as people read it. */
export const textOf = (value: unknown, key: string): string | undefined => readable(memberOf(value, key));

/** A member that is a list; an empty one where it is none. */
export const listOf = (value: unknown, key: string): readonly unknown[] => {
  const list = memberOf(value, key);
  return Array.isArray(list) ? list : [];
};
