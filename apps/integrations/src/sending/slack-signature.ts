import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** How far the clock of a request may be from ours, in seconds: what is older may have been recorded. */
const maxAgeSeconds = 300;

/** Whether a request is signed by Slack's rules (version v0) with the secret, and now. Compares in constant time. */
export function isSigned(
  { signature = '', timestamp = '', body }: { signature?: string; timestamp?: string; body: string },
  secret: string,
  now: Date,
): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() / 1_000 - Number(timestamp)) > maxAgeSeconds) return false;
  const expected = Buffer.from(`v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** A token is random, so that its hash needs neither salt nor repetition. */
export function hashOfToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
