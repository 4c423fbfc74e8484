import { type Refusal, refusal } from '@bunting/contracts';
import type { IncomingMessage } from 'node:http';
import type { GatewayConfig } from '../../config.ts';

type HeadLimits = Pick<GatewayConfig, 'GATEWAY_MAX_HEADERS' | 'GATEWAY_MAX_QUERY_PARAMETERS' | 'GATEWAY_MAX_URL_BYTES'>;

const hasMoreParameters = (url: string, limit: number): boolean => {
  let index = url.indexOf('?');
  if (index < 0) return false;
  for (let count = 0; index >= 0; index = url.indexOf('&', index + 1)) if (++count > limit) return true;
  return false;
};

/**
 * Checks the length of a URL and the number of query parameters and headers; Node checks the length of the headers.
 * @returns the refusal of a request beyond the limits; undefined when it is within them
 */
export const checkHeadLimits = (
  { url = '', rawHeaders }: IncomingMessage,
  { GATEWAY_MAX_HEADERS, GATEWAY_MAX_QUERY_PARAMETERS, GATEWAY_MAX_URL_BYTES }: HeadLimits,
): Refusal | undefined => {
  // Node accepts ASCII only in a URL: a character is a byte.
  if (url.length > GATEWAY_MAX_URL_BYTES) {
    return refusal(
      'UriTooLong',
      `The address of the request is longer than ${GATEWAY_MAX_URL_BYTES} bytes. Shorten it.`,
    );
  }
  if (hasMoreParameters(url, GATEWAY_MAX_QUERY_PARAMETERS)) {
    return refusal(
      'UriTooLong',
      `The query of the request has more than ${GATEWAY_MAX_QUERY_PARAMETERS} parameters. Send fewer.`,
    );
  }
  if (rawHeaders.length > 2 * GATEWAY_MAX_HEADERS) {
    return refusal('HeadersTooLarge', `The request has more than ${GATEWAY_MAX_HEADERS} headers. Send fewer.`);
  }
  return undefined;
};
