import { type DiscoveredProvider, invalidProperty } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from 'openid-client';
import type { GatewayConfig } from '../../config.ts';
import { basePathOf } from '../../http/base-path.ts';
import { publicUrl } from '../../http/request-context.ts';
import type { EffectiveSignInSettings } from '../sign-in/sign-in-settings.ts';
import { groupsIn, hasOmittedGroups, lacksUserClaims, type OidcUserClaims, oidcUserClaims } from './oidc-claims.ts';
import type { OidcSettingsWithSecret } from './oidc-settings.ts';
import {
  isPlainHttpLoopback,
  ProviderFault,
  providerFaultOf,
  providerFetch,
  providerTimeoutSeconds,
} from './provider-requests.ts';

/** TTL of the cached metadata of a provider, in milliseconds. */
const metadataTtlMs = 3_600_000;

const wellKnown = /\/\.well-known\/openid-configuration\/?$/;

/** Discovers the provider of the settings, and caches its metadata. */
function oidcClientConfiguration(settings: OidcSettingsWithSecret, warn: (message: string) => void) {
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
    configuration,
  };
}

/** The state of a sign-in that is needed for the callback. */
export interface LoginChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

// The library does not validate the metadata of a provider: each member may be of any type.
function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, 2_048) : null;
}
function textsOf(value: unknown): string[] {
  return Array.isArray(value)
    ? value.flatMap((item: unknown) => (typeof item === 'string' ? item.slice(0, 255) : [])).slice(0, 100)
    : [];
}

/**
 * The OpenID provider of the settings. Its metadata are cached; the keys that sign ID tokens are read at each sign-in, so that they can be
 * rotated.
 */
function openIdProvider(settings: OidcSettingsWithSecret, warn: (message: string) => void) {
  const { discover, configuration } = oidcClientConfiguration(settings, warn);
  const scopes = [
    'openid',
    'email',
    'profile',
    ...(settings.addGroupsScope ? ['groups'] : []),
    ...settings.extraScopes.split(/\s+/).filter((scope) => scope !== ''),
  ];
  const acrValues = settings.acrValues.split(/\s+/).filter((value) => value !== '');

  return {
    settings,
    /** Discovers the provider. @returns its metadata @throws ProviderFault with the cause */
    discover: async (): Promise<DiscoveredProvider> => {
      try {
        const server = await discover();
        if (server.authorization_endpoint === undefined || server.token_endpoint === undefined)
          throw new ProviderFault('The provider has no endpoints for signing in.');
        const methods = server.code_challenge_methods_supported;
        return {
          issuer: server.issuer,
          authorizationEndpoint: textOrNull(server.authorization_endpoint),
          tokenEndpoint: textOrNull(server.token_endpoint),
          endSessionEndpoint: textOrNull(server.end_session_endpoint),
          signingAlgorithms: textsOf(server.id_token_signing_alg_values_supported),
          scopes: textsOf(server.scopes_supported),
          supportsPkce: Array.isArray(methods) ? methods.includes('S256') : null,
        };
      } catch (error) {
        throw providerFaultOf(error);
      }
    },
    /** Begins a sign-in. @returns the URL at the provider, and the state for the callback */
    begin: async (redirectUri: string): Promise<{ readonly url: URL; readonly checks: LoginChecks }> => {
      const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
      const config = await configuration();
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: [...new Set(scopes)].join(' '),
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
        ...(acrValues.length === 0 ? {} : { acr_values: acrValues.join(' ') }),
      });
      return { url, checks };
    },
    /** Ends a sign-in: exchanges the code, and verifies the ID token. @throws Error, of which `providerFaultOf` makes a message for the user */
    complete: async (callback: URL, { state, nonce, verifier }: LoginChecks): Promise<OidcUserClaims> => {
      const config = await configuration();
      const tokens = await authorizationCodeGrant(config, callback, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new ProviderFault('The provider sent no ID token.');
      if (acrValues.length > 0 && !acrValues.some((value) => value === claims.acr))
        throw new ProviderFault('The provider did not authenticate you as strongly as Bunting requires.');

      const { enableGroupSyncing, groupJsonPath: path } = settings;
      const userInfo =
        lacksUserClaims(claims, settings) && config.serverMetadata().userinfo_endpoint !== undefined
          ? await fetchUserInfo(config, tokens.access_token, claims.sub)
          : undefined;
      if (enableGroupSyncing && groupsIn(claims, path) === undefined && hasOmittedGroups(claims, path))
        throw new ProviderFault(
          'You are a member of more groups than the provider puts into a token. Ask its administrator to send only the groups that are assigned to Bunting.',
        );
      return oidcUserClaims(claims, userInfo, settings);
    },
    /** The URL that ends the session at the provider and returns to `returnTo`; undefined where the provider has none. */
    signOutUrl: async (returnTo: string): Promise<URL | undefined> => {
      const config = await configuration();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      return buildEndSessionUrl(config, { client_id: settings.clientId, post_logout_redirect_uri: returnTo });
    },
  };
}
export type OpenIdProvider = ReturnType<typeof openIdProvider>;

/**
 * The metadata that the provider of the settings publishes, for a check of the settings before they are stored.
 * @throws Refusal 400 with the fault of the provider
 */
export async function discoverProvider(settings: OidcSettingsWithSecret): Promise<DiscoveredProvider> {
  // Discovery needs no client, but the library requires an id.
  const clientId = settings.clientId || 'bunting';
  try {
    return await openIdProvider({ ...settings, clientId }, () => undefined).discover();
  } catch (error) {
    throw invalidProperty(providerFaultOf(error).message.replace(/\.$/, ''), '/body/discoverUrl');
  }
}

/** Returns the provider that users sign in through now; undefined while that is off. */
export type CurrentOpenIdProvider = () => Promise<OpenIdProvider | undefined>;

/** Keeps one provider, with its cached metadata, until the settings of OpenID Connect change. */
export function currentOpenIdProvider(
  { oidc }: Pick<EffectiveSignInSettings, 'oidc'>,
  warn: (message: string) => void,
): CurrentOpenIdProvider {
  let current: { readonly key: string; readonly provider: OpenIdProvider } | undefined;
  return async () => {
    const settings = await oidc();
    if (!settings.enabled) return undefined;
    const key = JSON.stringify(settings);
    if (current?.key !== key) current = { key, provider: openIdProvider(settings, warn) };
    return current.provider;
  };
}

/**
 * The URL that a browser is redirected to after signing out: the provider's, which also ends the session there, where the settings turn
 * single sign-out on; that of the console otherwise, and while the provider is unavailable.
 */
export function logoutDestination(findProvider: CurrentOpenIdProvider, config: GatewayConfig) {
  return async (request: FastifyRequest): Promise<string> => {
    const provider = await findProvider();
    const home = `${basePathOf(config)}/`;
    if (provider?.settings.enableSingleSignOut !== true) return home;
    try {
      return (await provider.signOutUrl(`${publicUrl(request, config)}/`))?.href ?? home;
    } catch {
      return home;
    }
  };
}
