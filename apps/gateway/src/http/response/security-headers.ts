/**
 * Security headers of every response; pages override what they need. Own code instead of @fastify/helmet, because the headers also protect
 * responses that are written without Fastify (`raw-response.ts`).
 */
export const securityHeaders = (behindTls: boolean): Readonly<Record<string, string>> => ({
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  // Where TLS is not always in front, browsers that once received the header over TLS could no longer connect without it.
  ...(behindTls ? { 'strict-transport-security': 'max-age=31536000' } : {}),
});
