import type { Caller } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import type { GatewayWriteContext } from '../persistence/unit-of-work.ts';

/** The context of a write of an identity provider: by SCIM, or at a sign-in. Such a request is no operation. */
export const providerWriteContext = (
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
