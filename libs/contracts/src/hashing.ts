import { hash } from 'node:crypto';

function withSortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withSortedKeys);
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, withSortedKeys((value as Record<string, unknown>)[name])]));
}

/** Serializes a value as JSON with sorted object keys, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(withSortedKeys(value)) ?? 'null';
}

/** The entity tag of a resource without a revision number: a hash of its content, independent of key order. */
export function contentTag(content: unknown): string {
  return hash('sha256', canonicalJson(content), 'base64url').slice(0, 22);
}

/** The Gravatar URL that Unleash derives from an e-mail address or a user name. */
export function gravatarUrlOf(identifier: string): string {
  return `https://gravatar.com/avatar/${hash('sha256', identifier.trim().toLowerCase())}?s=42&d=retro&r=g`;
}
