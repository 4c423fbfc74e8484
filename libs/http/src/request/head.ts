import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { invalid, type Refusal, refusal } from '@bunting/contracts';
import type { HttpSettings } from '../settings.ts';

type HeadLimits = Pick<HttpSettings, 'GATEWAY_MAX_HEADERS' | 'GATEWAY_MAX_QUERY_PARAMETERS' | 'GATEWAY_MAX_URL_BYTES'>;

function hasMoreParameters(url: string, limit: number): boolean {
  let index = url.indexOf('?');
  if (index < 0) return false;
  for (let count = 0; index >= 0; index = url.indexOf('&', index + 1)) if (++count > limit) return true;
  return false;
}

/** Whether a request has the one Host header that HTTP/1.1 requires (RFC 9112, 3.2), and no other one. */
function hasOneHost({
  rawHeaders,
  httpVersionMinor,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersionMinor'>): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count === 1 || (count === 0 && httpVersionMinor === 0);
}

/**
 * Checks the Host header, the length of the URL and the number of query parameters and headers; Node checks the length of the headers.
 * @returns the refusal of the request; undefined when its head is valid and within the limits
 */
export function checkRequestHead(
  { url = '', rawHeaders, httpVersionMinor }: IncomingMessage,
  { GATEWAY_MAX_HEADERS, GATEWAY_MAX_QUERY_PARAMETERS, GATEWAY_MAX_URL_BYTES }: HeadLimits,
): Refusal | undefined {
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
}

const originPrefix = /^https?:\/\/[^/?#]*/i;
const asciiEscape = /%([0-7][0-9a-f])/gi;

/**
 * Whether a URL is below a path. The URL is read at least as leniently as the router reads it, with percent-encoded characters, repeated
 * slashes, and an origin as proxies send it, so that no URL that the router accepts below the path is missed.
 */
export function isPathBelow(prefix: string, url: string): boolean {
  const [path = ''] = url.replace(originPrefix, '').split(/[?#]/, 1);
  const decoded = path.includes('%')
    ? path.replace(asciiEscape, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : path;
  const normalised = decoded.replace(/\/{2,}/g, '/');
  return normalised === prefix || normalised.startsWith(`${prefix}/`);
}

/** The URL of a request without a base path, such as `/flags`; a URL that is not below it stays as it is. */
export function withoutBasePath(url: string, base: string): string {
  if (base === '' || !url.startsWith(base)) return url;
  const rest = url.slice(base.length);
  if (rest !== '' && !/^[/?]/.test(rest)) return url;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * The key under which limits count a client's address: all IPv6 addresses of one /64 network share one budget, since one client can have
 * the whole network.
 */
export function clientNetwork(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const headGroups = head === '' ? [] : head.split(':');
  const tailGroups = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeroCount = tail === undefined ? 0 : Math.max(0, 8 - headGroups.length - tailGroups.length);
  return [...headGroups, ...Array<string>(zeroCount).fill('0'), ...tailGroups].slice(0, 4).join(':');
}
