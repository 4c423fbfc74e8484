import { type Refusal, refusal } from '@bunting/contracts';
import type { IncomingMessage } from 'node:http';
import type { GatewayConfig } from '../../config.ts';

type HeadLimits = Pick<GatewayConfig, 'GATEWAY_MAX_HEADERS' | 'GATEWAY_MAX_QUERY_PARAMETERS' | 'GATEWAY_MAX_URL_BYTES'>;

const hasMoreParameters = (url: string, limit: number): boolean => {
  let at = url.indexOf('?');
  if (at < 0) return false;
  for (let count = 0; at >= 0; at = url.indexOf('&', at + 1)) if (++count > limit) return true;
  return false;
};

/** What is too much about the address or the headers of a request; undefined when nothing is. Asked before anything else. */
export const oversizedHead = (
  { url = '', rawHeaders }: IncomingMessage,
  { GATEWAY_MAX_HEADERS, GATEWAY_MAX_QUERY_PARAMETERS, GATEWAY_MAX_URL_BYTES }: HeadLimits,
): Refusal | undefined => {
  // Of what Node lets through as an address, a character is a byte.
  if (url.length > GATEWAY_MAX_URL_BYTES) {
    return refusal('UriTooLong', `The address of the request is longer than ${GATEWAY_MAX_URL_BYTES} bytes.`);
  }
  if (hasMoreParameters(url, GATEWAY_MAX_QUERY_PARAMETERS)) {
    return refusal('UriTooLong', `The query of the request has more than ${GATEWAY_MAX_QUERY_PARAMETERS} parameters.`);
  }
  if (rawHeaders.length > 2 * GATEWAY_MAX_HEADERS) {
    return refusal('HeadersTooLarge', `The request has more than ${GATEWAY_MAX_HEADERS} headers.`);
  }
  return undefined;
};
