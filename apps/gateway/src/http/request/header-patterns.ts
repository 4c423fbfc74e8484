// The patterns of headers, as the OpenAPI document publishes them. The parser of entity tags (`entity-tags.ts`) also accepts the white
// space and the empty list members of RFC 9110.

/** The form of an `Idempotency-Key`: visible ASCII characters. */
export const idempotencyKeyPattern = '^[!-~]{1,255}$';

/** The syntax of `If-Match` and `If-None-Match`: `*`, or a list of entity tags (RFC 9110, 8.8.3). */
export const entityTagsPattern = '^([*]|(W/)?"[!#-~]*"(, ?(W/)?"[!#-~]*")*)$';
