import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

/** The entity tag of a resource without a revision number: a hash of its content, independent of key order. */
export const contentTag = (content: unknown): string =>
  hash('sha256', canonicalJson(content), 'base64url').slice(0, 22);
