import type { FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../../config.ts';

/** The URL under which browsers reach Bunting, without a final slash: GATEWAY_PUBLIC_URL, or the origin of the request. */
export const publicUrl = (
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
  config: Pick<GatewayConfig, 'GATEWAY_PUBLIC_URL' | 'GATEWAY_BEHIND_TLS'>,
): string => {
  const configured = config.GATEWAY_PUBLIC_URL.replace(/\/+$/, '');
  return configured === '' ? `${config.GATEWAY_BEHIND_TLS ? 'https' : protocol}://${host}` : configured;
};
