import { invalid, type Refusal, refusal } from '@bunting/contracts';
import type { IncomingMessage } from 'node:http';
import type { GatewayConfig } from '../../config.ts';

type HeadLimits = Pick<GatewayConfig, 'GATEWAY_MAX_HEADERS' | 'GATEWAY_MAX_QUERY_PARAMETERS' | 'GATEWAY_MAX_URL_BYTES'>;

const hasMoreParameters = (url: string, limit: number): boolean => {
  let index = url.indexOf('?');
  if (index < 0) return false;
  for (let count = 0; index >= 0; index = url.indexOf('&', index + 1)) if (++count > limit) return true;
  return false;
};

/** Whether a request has the one Host header that HTTP/1.1 requires (RFC 9112, 3.2), and no other one. */
const hasOneHost = ({
  rawHeaders,
  httpVersionMinor,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersionMinor'>): boolean => {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count === 1 || (count === 0 && httpVersionMinor === 0);
};

/**
 * Checks the Host header, the length of the URL and the number of query parameters and headers; Node checks the length of the headers.
 * @returns the refusal of the request; undefined when its head is valid and within the limits
 */
export const checkRequestHead = (
  { url = '', rawHeaders, httpVersionMinor }: IncomingMessage,
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
  if (!hasOneHost({ rawHeaders, httpVersionMinor }))
    return invalid('The request must have one `Host` header.', '/headers/host');
  return undefined;
};
