import { memberOf } from '@bunting/contracts';

// The shape of event data is up to its producer: a member may be missing, or be anything.

/** The text of a scalar; undefined for an empty text, an object or null. */
export const scalarText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
};

/** The text of a scalar member. */
export const memberText = (value: unknown, key: string): string | undefined => scalarText(memberOf(value, key));

/** The list in a member; empty if the member is no list. */
export const listMember = (value: unknown, key: string): readonly unknown[] => {
  const list = memberOf(value, key);
  return Array.isArray(list) ? list : [];
};
