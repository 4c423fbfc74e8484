import type { Caller } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import type { TransactionContext } from '../../unit-of-work/unit-of-work.ts';

/** The context of a write by a request that is no operation: of an identity provider, of a sign-in through it, or a logout. */
export const contextOutsideOperations = (
  { exchange }: Pick<FastifyRequest, 'exchange'>,
  caller: Caller,
  timeoutMs: number,
): TransactionContext => {
  const now = new Date();
  return { caller, now, traceparent: exchange.traceparent, deadline: new Date(now.getTime() + timeoutMs) };
};
