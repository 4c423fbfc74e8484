import { hash } from 'node:crypto';

const ordered = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, ordered(member)]));
};

/** The value as JSON with the members of every object in one order: the same text for whatever means the same. */
export const canonicalJson = (value: unknown): string => JSON.stringify(ordered(value)) ?? 'null';

/** The tag of what has no count of its edits: of its content, whatever order its members come in. */
export const tagOf = (content: unknown): string => hash('sha256', canonicalJson(content), 'base64url').slice(0, 22);
