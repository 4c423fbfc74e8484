import type { Caller } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../config.ts';
import type { TransactionContext } from '../unit-of-work/unit-of-work.ts';

/** The URL under which browsers reach Bunting, without a final slash: GATEWAY_PUBLIC_URL, or the origin of the request. */
export function publicUrl(
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
  config: Pick<GatewayConfig, 'GATEWAY_PUBLIC_URL' | 'GATEWAY_BEHIND_TLS'>,
): string {
  const configured = config.GATEWAY_PUBLIC_URL.replace(/\/+$/, '');
  return configured === '' ? `${config.GATEWAY_BEHIND_TLS ? 'https' : protocol}://${host}` : configured;
}

/** The context of a write by a request that is no operation: of an identity provider, of a sign-in through it, or a logout. */
export function contextOutsideOperations(
  { exchange }: Pick<FastifyRequest, 'exchange'>,
  caller: Caller,
  timeoutMs: number,
): TransactionContext {
  const now = new Date();
  return { caller, now, traceparent: exchange.traceparent, deadline: new Date(now.getTime() + timeoutMs) };
}
