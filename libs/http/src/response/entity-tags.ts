import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type IfMatch, unsupportedIfMatch } from '@bunting/bus';
import { invalid, type Refusal, refusal } from '@bunting/contracts';
import { withoutEntityTagSuffix } from './compression.ts';

function malformedHeader(header: string): Refusal {
  return invalid(
    `The \`${header}\` header must be \`*\` or a list of entity tags in double quotes.`,
    `/headers/${header.toLowerCase()}`,
  );
}

/** Whether a character may stand between the quotes of a tag (RFC 9110, 8.8.3). */
function isTagCharacter(code: number): boolean {
  return code === 0x21 || (code >= 0x23 && code !== 0x7f);
}

/** The opaque texts of the tags in a header that is `*` or a list of them, weak or not; in linear time. */
function parseTags(text: string, header: string): '*' | readonly string[] {
  if (text.trim() === '*') return '*';
  const tags: string[] = [];
  let index = 0;
  const skipSpace = () => {
    while (text[index] === ' ' || text[index] === '\t') index++;
  };
  while (index < text.length) {
    skipSpace();
    if (text[index] === ',' || index >= text.length) {
      index++;
      continue;
    }
    if (text.startsWith('W/', index)) index += 2;
    if (text[index++] !== '"') throw malformedHeader(header);
    const from = index;
    while (index < text.length && isTagCharacter(text.charCodeAt(index))) index++;
    if (text[index] !== '"') throw malformedHeader(header);
    tags.push(text.slice(from, index));
    index++;
    skipSpace();
    if (index < text.length && text[index] !== ',') throw malformedHeader(header);
  }
  if (tags.length === 0) throw malformedHeader(header);
  return tags;
}

/**
 * The tags of `If-Match`, of which one must be current, without the suffixes of encodings. Bunting's tags are strong; a weak one is one of them
 * that a proxy has marked because it compressed the response, as nginx does, so it matches by its opaque text, other than by RFC 9110, 13.1.1.
 */
export function parseIfMatch(headers: IncomingHttpHeaders): IfMatch | undefined {
  const header = headers['if-match'];
  if (header === undefined) return undefined;
  const tags = parseTags(header, 'If-Match');
  return tags === '*' ? '*' : tags.map(withoutEntityTagSuffix);
}

/** The tags of `If-None-Match`, without the suffixes of encodings. */
export function parseIfNoneMatch(headers: IncomingHttpHeaders): IfMatch | undefined {
  const header = headers['if-none-match'];
  if (header === undefined) return undefined;
  const tags = parseTags(header, 'If-None-Match');
  return tags === '*' ? '*' : tags.map(withoutEntityTagSuffix);
}

/**
 * The entity tag of a reply: the service's tag of the resource, if it set one, followed by a hash of the bytes, which may differ between
 * callers.
 */
export function entityTagOf(json: string, serviceTag: string | undefined): string {
  const contentHash = hash('sha256', json, 'base64url').slice(0, 22);
  return serviceTag === undefined ? contentHash : `${serviceTag.slice(1, -1)}.${contentHash}`;
}

/** Checks the condition of a read. @throws Refusal `PreconditionFailed` when `If-Match` does not name the current tag */
export function requireCurrentTag(headers: IncomingHttpHeaders, tag: string): void {
  const expected = parseIfMatch(headers);
  if (expected === undefined || expected === '*' || expected.includes(tag)) return;
  throw refusal(
    'PreconditionFailed',
    'The resource has changed: the `If-Match` header does not name its current entity tag. Read it again.',
    { tag },
  );
}

/** Whether the client has the current content, by `If-None-Match`. */
export function isNotModified(headers: IncomingHttpHeaders, tag: string): boolean {
  const tags = parseIfNoneMatch(headers);
  return tags === '*' || tags?.includes(tag) === true;
}

/**
 * The tag of a 304 response: the one that the client sent, with the suffix of the encoding in which it has the content.
 * @param tag the current tag without a suffix, which the client has in some encoding
 * @param encodedTag the tag that a 200 response would have
 */
export function matchingClientEntityTag(headers: IncomingHttpHeaders, tag: string, encodedTag: string): string {
  const tags = parseTags(headers['if-none-match'] ?? '*', 'If-None-Match');
  if (tags === '*') return encodedTag;
  return tags.find((opaque) => withoutEntityTagSuffix(opaque) === tag) ?? tag;
}

/** Refuses conditions that the operation does not support: from an ignored condition a client would conclude that the condition was met. */
export function requireConditionsSupported(headers: IncomingHttpHeaders, isConditional: boolean): void {
  if (headers['if-none-match'] !== undefined) {
    throw invalid('The `If-None-Match` header is for GET requests only. Omit it.', '/headers/if-none-match');
  }
  if (headers['if-match'] !== undefined && !isConditional) throw unsupportedIfMatch();
}

// The patterns of headers, as the OpenAPI document publishes them. The parser of entity tags (`entity-tags.ts`) also accepts the white
// space and the empty list members of RFC 9110.

/** The form of an `Idempotency-Key`: visible ASCII characters. */
export const idempotencyKeyPattern = '^[!-~]{1,255}$';

/** The syntax of `If-Match` and `If-None-Match`: `*`, or a list of entity tags (RFC 9110, 8.8.3). */
export const entityTagsPattern = '^([*]|(W/)?"[!#-~]*"(, ?(W/)?"[!#-~]*")*)$';
