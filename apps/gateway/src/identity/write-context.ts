import type { Caller } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import type { GatewayWriteContext } from '../persistence/unit-of-work.ts';

/** The context of a write that a request makes without being an operation. */
export const writeContext = (
  { exchange }: Pick<FastifyRequest, 'exchange'>,
  caller: Caller,
  timeoutMs: number,
): GatewayWriteContext => {
  const now = new Date();
  return {
    caller,
    now,
    traceparent: exchange.traceparent,
    deadline: new Date(now.getTime() + timeoutMs),
    idempotency: undefined,
    conditional: undefined,
    requireMatch: undefined,
    setHeader: () => undefined,
    headers: {},
  };
};
