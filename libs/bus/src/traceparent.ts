import { activeTraceparent } from '@bunting/tracing';
import { randomUUID } from 'node:crypto';

const traceparentPattern = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;

/** A W3C trace context that continues the received one when it is well-formed, and is new otherwise. */
export const traceparentFrom = (received?: string): string => {
  const parent = received === undefined ? null : traceparentPattern.exec(received);
  // randomUUID draws from a pool of random bytes, so for a few bytes it is cheaper than randomBytes.
  const trace = parent?.[1] ?? randomUUID().replaceAll('-', '');
  const span = randomUUID();
  return `00-${trace}-${span.slice(0, 8)}${span.slice(24, 32)}-${parent?.[2] ?? '01'}`;
};

/** A W3C trace context of work that Bunting does by itself: that of the active span, or else of a trace that is not sampled. */
export const systemTraceparent = (): string => activeTraceparent() ?? traceparentFrom().replace(/01$/, '00');
