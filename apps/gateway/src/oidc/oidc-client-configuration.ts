import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ServerMetadata,
} from 'openid-client';
import type { OidcSettingsWithSecret } from '../access/oidc/oidc-settings.ts';
import { providerFaultOf, ProviderFault } from './provider-fault.ts';
import { isPlainHttpLoopback, providerFetch } from '../access/oidc/provider-requests.ts';
import { providerTimeoutSeconds } from './provider-timeout.ts';

/** TTL of the cached metadata of a provider, in milliseconds. */
const metadataTtlMs = 3_600_000;

const wellKnown = /\/\.well-known\/openid-configuration\/?$/;

/** Discovers the provider of the settings, and caches its metadata. */
export const oidcClientConfiguration = (settings: OidcSettingsWithSecret, warn: (message: string) => void) => {
  let cached: { readonly metadata: ServerMetadata; readonly fetchedAt: number } | undefined;
  let pending: Promise<ServerMetadata> | undefined;

  /** @throws ProviderFault for a URL that is neither HTTPS nor plain HTTP to a loopback address, or has parts that an issuer cannot have */
  const parseIssuerUrl = (): URL => {
    const text = settings.discoverUrl.replace(wellKnown, '');
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || (url.protocol !== 'https:' && !isPlainHttpLoopback(url)))
      throw new ProviderFault('The address of the provider must begin with https://.');
    if (url.username !== '' || url.search !== '' || url.hash !== '')
      throw new ProviderFault('The address of the provider must have no user, query or fragment.');
    return url;
  };

  const clientMetadata = { id_token_signed_response_alg: settings.idTokenSigningAlgorithm };

  const discover = async (): Promise<ServerMetadata> => {
    const url = parseIssuerUrl();
    const options = {
      timeout: providerTimeoutSeconds,
      [customFetch]: providerFetch(url),
      execute: isPlainHttpLoopback(url) ? [allowInsecureRequests] : [],
    };
    try {
      return (await discovery(url, settings.clientId, clientMetadata, None(), options)).serverMetadata();
    } catch (error) {
      // The identifiers of some issuers end with a slash, which the URL of their metadata does not show.
      if ((error as { code?: unknown }).code !== 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED' || url.href.endsWith('/'))
        throw error;
      const withSlash = new URL(`${url.href}/`);
      return (await discovery(withSlash, settings.clientId, clientMetadata, None(), options)).serverMetadata();
    }
  };

  const metadata = async (): Promise<ServerMetadata> => {
    if (cached !== undefined && performance.now() - cached.fetchedAt < metadataTtlMs) return cached.metadata;
    pending ??= discover().finally(() => (pending = undefined));
    try {
      cached = { metadata: await pending, fetchedAt: performance.now() };
    } catch (error) {
      if (cached === undefined) throw error;
      warn(
        `Sign-in: the OpenID provider at ${parseIssuerUrl().origin} could not be discovered again (${providerFaultOf(error).message}). Its last metadata are used.`,
      );
    }
    return cached.metadata;
  };

  const configuration = async (): Promise<Configuration> => {
    const url = parseIssuerUrl();
    const server = await metadata();
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const { secret } = settings;
    const authentication = !secret
      ? None()
      : methods.includes('client_secret_basic')
        ? ClientSecretBasic(secret)
        : ClientSecretPost(secret);
    const config = new Configuration(server, settings.clientId, clientMetadata, authentication);
    config.timeout = providerTimeoutSeconds;
    config[customFetch] = providerFetch(url);
    if (isPlainHttpLoopback(url)) allowInsecureRequests(config);
    enableNonRepudiationChecks(config);
    return config;
  };

  return {
    /** The metadata that the provider publishes now. */
    discover,
    /** The configuration of Bunting as a client of the provider. */
    configuration,
  };
};
