import { hash } from 'node:crypto';

const withSortedKeys = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withSortedKeys);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, withSortedKeys(member)]));
};

/** Serializes a value as JSON with sorted object keys, so that equal values give equal text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(withSortedKeys(value)) ?? 'null';

/** The entity tag of a resource without a revision number: a hash of its content, independent of key order. */
export const contentTag = (content: unknown): string =>
  hash('sha256', canonicalJson(content), 'base64url').slice(0, 22);

/** The Gravatar URL that Unleash derives from an e-mail address or a user name. */
export const gravatarUrlOf = (identifier: string): string =>
  `https://gravatar.com/avatar/${hash('sha256', identifier.trim().toLowerCase())}?s=42&d=retro&r=g`;
