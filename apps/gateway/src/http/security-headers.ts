/** What every answer tells a browser about how little may be done with it; pages loosen what they need. */
export const securityHeaders = (behindTls: boolean): Readonly<Record<string, string>> => ({
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  // Said over plain HTTP it would be ignored; said where there is no TLS it would lock people out.
  ...(behindTls ? { 'strict-transport-security': 'max-age=31536000' } : {}),
});
