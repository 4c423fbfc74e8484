import { AuthorizationResponseError, type CustomFetch, ResponseBodyError } from 'openid-client';

/** Timeout of each request to a provider, in seconds. */
export const providerTimeoutSeconds = 4;

/** A provider that cannot be used. The message is for users and contains no value that the provider sent. */
export class ProviderFault extends Error {}

const messages: Readonly<Record<string, string>> = {
  OAUTH_TIMEOUT: `The provider did not answer within ${providerTimeoutSeconds} seconds.`,
  OAUTH_RESPONSE_IS_NOT_JSON: 'The provider answered with something else than JSON.',
  OAUTH_PARSE_ERROR: 'The provider answered with something else than JSON.',
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'The provider answered with a status that means failure.',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'The provider names another issuer than the address that is configured.',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'The ID token was not issued by this provider to this client for this sign-in.',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'The ID token has expired, or is not valid yet. Are the clocks right?',
  OAUTH_KEY_SELECTION_FAILED: 'The provider publishes no key for the signature of the ID token.',
  OAUTH_INVALID_RESPONSE: 'The response of the provider is not valid.',
};

/** The algorithm of the settings, if an error says that the ID token is signed with another one. */
function expectedAlgorithm(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { reason, expected } = (cause.cause ?? {}) as { readonly reason?: unknown; readonly expected?: unknown };
    if (reason === 'client configuration' && typeof expected === 'string') return expected;
  }
  return undefined;
}

/** The cause of a failure, as text without any value that the provider sent. */
export function providerFaultOf(error: unknown): ProviderFault {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderFault) return cause;
  }
  const fault = (message: string) => new ProviderFault(message, { cause: error });
  if (error instanceof AuthorizationResponseError) {
    return fault(
      error.error === 'access_denied' ? 'The provider denied access.' : 'The provider ended the sign-in with an error.',
    );
  }
  if (error instanceof ResponseBodyError) {
    return fault(
      error.error === 'invalid_client'
        ? 'The provider rejected the client id or its secret.'
        : 'The provider rejected the sign-in, for example because it was started too long ago.',
    );
  }
  const algorithm = expectedAlgorithm(error);
  if (algorithm !== undefined)
    return fault(
      `The ID token of the provider is not signed with ${algorithm}, the algorithm of the settings (idTokenSigningAlgorithm).`,
    );
  const message = messages[String((error as { code?: unknown }).code)];
  return fault(message ?? 'The provider cannot be reached, or its response cannot be used.');
}

/** Maximum bytes of a response of a provider. */
const maxResponseBytes = 1_048_576;

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
function isIpAddress(host: string): boolean {
  return host.includes(':') || /^\d{1,3}(\.\d{1,3}){3}$/.test(host);
}

/** Whether the URL is plain HTTP to a loopback address, for which TLS is not required. */
export function isPlainHttpLoopback(url: URL): boolean {
  return url.protocol === 'http:' && isLoopback(hostOf(url));
}

/**
 * Refuses URLs by which a provider could make the gateway call hosts of the gateway's own network: URLs without TLS, and those of IP
 * addresses or the local host that are not the issuer itself.
 * @throws ProviderFault
 */
function requireAllowedUrl(url: URL, issuer: URL): void {
  const host = hostOf(url);
  if (url.protocol !== 'https:' && !(isPlainHttpLoopback(url) && isPlainHttpLoopback(issuer)))
    throw new ProviderFault(`The address ${url.origin} of the provider is not HTTPS.`);
  if (host !== hostOf(issuer) && (isIpAddress(host) || isLoopback(host)))
    throw new ProviderFault(`The provider refers to ${url.origin}, which is an address inside of a network.`);
}

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxResponseBytes)
      throw new ProviderFault(`The provider sent a response of more than ${maxResponseBytes} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** A `fetch` that calls the issuer and the hosts that it names, follows no redirect, and reads responses up to a bound. */
export function providerFetch(issuer: URL): CustomFetch {
  return async (url, { body, method, headers, signal }) => {
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
}
