// What the server takes of a header, as the OpenAPI document says it. Entity tags are read by hand (`entity-tags.ts`), which also
// accepts the white space and the empty members that RFC 9110 allows in lists: that pattern is text.

/** What an `Idempotency-Key` looks like: visible ASCII characters. */
export const idempotencyKeyPattern = '^[!-~]{1,255}$';

/** What `If-Match` and `If-None-Match` look like: `*`, or a list of entity tags (RFC 9110, 8.8.3). */
export const entityTagsPattern = '^([*]|(W/)?"[!#-~]*"(, ?(W/)?"[!#-~]*")*)$';
