import type { CustomFetch } from 'openid-client';
import { ProviderFault } from '../../oidc/provider-fault.ts';

/** Maximum bytes of a response of a provider. */
const maxResponseBytes = 1_048_576;

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
const isIpAddress = (host: string): boolean => host.includes(':') || /^\d{1,3}(\.\d{1,3}){3}$/.test(host);

/** Whether the URL is plain HTTP to a loopback address, for which TLS is not required. */
export const isPlainHttpLoopback = (url: URL): boolean => url.protocol === 'http:' && isLoopback(hostOf(url));

/**
 * Refuses URLs by which a provider could make the gateway call hosts of the gateway's own network: URLs without TLS, and those of IP
 * addresses or the local host that are not the issuer itself.
 * @throws ProviderFault
 */
export const requireAllowedUrl = (url: URL, issuer: URL): void => {
  const host = hostOf(url);
  if (url.protocol !== 'https:' && !(isPlainHttpLoopback(url) && isPlainHttpLoopback(issuer)))
    throw new ProviderFault(`The address ${url.origin} of the provider is not HTTPS.`);
  if (host !== hostOf(issuer) && (isIpAddress(host) || isLoopback(host)))
    throw new ProviderFault(`The provider refers to ${url.origin}, which is an address inside of a network.`);
};

const readBounded = async (response: Response): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxResponseBytes)
      throw new ProviderFault(`The provider sent a response of more than ${maxResponseBytes} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
};

/** A `fetch` that calls the issuer and the hosts that it names, follows no redirect, and reads responses up to a bound. */
export const providerFetch =
  (issuer: URL): CustomFetch =>
  async (url, { body, method, headers, signal }) => {
    requireAllowedUrl(new URL(url), issuer);
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: body as RequestInit['body'] }),
      ...(signal === undefined ? {} : { signal }),
    });
    const bytes = await readBounded(response);
    const allowedHeaders = new Headers();
    for (const name of ['content-type', 'www-authenticate', 'date']) {
      const value = response.headers.get(name);
      if (value !== null) allowedHeaders.set(name, value);
    }
    return new Response(bytes.length === 0 ? null : bytes, { status: response.status, headers: allowedHeaders });
  };
