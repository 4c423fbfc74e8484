import type { IfMatch } from '@bunting/bus';
import { invalid, type Refusal, refusal } from '@bunting/contracts';
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A tag as a header gives it; weak ones say that the content means the same, not that it is the same. */
interface EntityTag {
  readonly opaque: string;
  readonly isWeak: boolean;
}

const malformed = (header: string): Refusal =>
  invalid(
    `The \`${header}\` header must be \`*\` or a list of entity tags in double quotes.`,
    `/headers/${header.toLowerCase()}`,
  );

/** Where the character may stand between the quotes of a tag (RFC 9110, 8.8.3). */
const isTagCharacter = (code: number): boolean => code === 0x21 || (code >= 0x23 && code !== 0x7f);

/** Reads a header that is `*` or a list of tags, in one pass. */
const parseTags = (text: string, header: string): '*' | readonly EntityTag[] => {
  if (text.trim() === '*') return '*';
  const tags: EntityTag[] = [];
  let at = 0;
  const skipSpace = () => {
    while (text[at] === ' ' || text[at] === '\t') at++;
  };
  while (at < text.length) {
    skipSpace();
    if (text[at] === ',' || at >= text.length) {
      at++;
      continue;
    }
    const isWeak = text.startsWith('W/', at);
    if (isWeak) at += 2;
    if (text[at++] !== '"') throw malformed(header);
    const from = at;
    while (at < text.length && isTagCharacter(text.charCodeAt(at))) at++;
    if (text[at] !== '"') throw malformed(header);
    tags.push({ opaque: text.slice(from, at), isWeak });
    at++;
    skipSpace();
    if (at < text.length && text[at] !== ',') throw malformed(header);
  }
  if (tags.length === 0) throw malformed(header);
  return tags;
};

/** The tags of which one must be current; weak ones never are (RFC 9110, 13.1.1). */
export const parseIfMatch = (headers: IncomingHttpHeaders): IfMatch | undefined => {
  const given = headers['if-match'];
  if (given === undefined) return undefined;
  const tags = parseTags(given, 'If-Match');
  return tags === '*' ? '*' : tags.filter(({ isWeak }) => !isWeak).map(({ opaque }) => opaque);
};

/** The tags of what the reader has. A weak one will do: that it means the same is all that a reader asks (RFC 9110, 13.1.2). */
export const parseIfNoneMatch = (headers: IncomingHttpHeaders): IfMatch | undefined => {
  const given = headers['if-none-match'];
  if (given === undefined) return undefined;
  const tags = parseTags(given, 'If-None-Match');
  return tags === '*' ? '*' : tags.map(({ opaque }) => opaque);
};

const isKnown = (headers: IncomingHttpHeaders, tag: string): boolean => {
  const known = parseIfNoneMatch(headers);
  return known === '*' || known?.includes(tag) === true;
};

/**
 * The tag of what is read: what the service judges writes by, if it said that, and then the very bytes, which may depend on
 * who reads, and when.
 */
export const entityTagOf = (json: string, said: string | undefined): string => {
  const bytes = hash('sha256', json, 'base64url').slice(0, 22);
  return said === undefined ? bytes : `${said.slice(1, -1)}.${bytes}`;
};

/**
 * Whether a reader has it already, by `If-None-Match`.
 * @throws Refusal `PreconditionFailed` when `If-Match` asks for another than it is
 */
export const isNotModified = (headers: IncomingHttpHeaders, tag: string): boolean => {
  const wanted = parseIfMatch(headers);
  if (wanted !== undefined && wanted !== '*' && !wanted.includes(tag)) {
    throw refusal('PreconditionFailed', 'It is no longer what the `If-Match` header names.', { tag });
  }
  return isKnown(headers, tag);
};

/** Refuses what cannot be judged: a condition that was passed over would be taken for one that held. */
export const requireConditionsSupported = (headers: IncomingHttpHeaders, isConditional: boolean): void => {
  if (headers['if-none-match'] !== undefined) {
    throw invalid('The `If-None-Match` header is for reads.', '/headers/if-none-match');
  }
  if (headers['if-match'] !== undefined && !isConditional) {
    throw invalid('The `If-Match` header is not for this operation.', '/headers/if-match');
  }
};
