import { type DiscoveredProvider, invalidProperty } from '@bunting/contracts';
import type { OidcClientSettings } from '../domain/identity/oidc-settings.ts';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
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
  ResponseBodyError,
  type ServerMetadata,
} from 'openid-client';
import { groupsIn, hasOmittedGroups } from './group-claims.ts';
import { isOnLoopback, providerFetch, ProviderFault } from './provider-fetch.ts';

/** Timeout of each request to a provider, in seconds. */
const timeoutSeconds = 4;
/** TTL of the cached metadata of a provider, in milliseconds. */
const metadataTtlMs = 3_600_000;

const wellKnown = /\/\.well-known\/openid-configuration\/?$/;

/** The state of a sign-in that is needed for the callback. */
export interface LoginChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What the claims of a provider say about a user. */
export interface ProviderClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  /** the e-mail address, only if it is verified */
  readonly email: string | null;
  readonly hasUnverifiedEmail: boolean;
  /** undefined where groups are not synchronised */
  readonly groups: readonly string[] | undefined;
}

const messages: Readonly<Record<string, string>> = {
  OAUTH_TIMEOUT: `The provider did not answer within ${timeoutSeconds} seconds.`,
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
const expectedAlgorithm = (error: unknown): string | undefined => {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { reason, expected } = (one.cause ?? {}) as { readonly reason?: unknown; readonly expected?: unknown };
    if (reason === 'client configuration' && typeof expected === 'string') return expected;
  }
  return undefined;
};

/** The cause of a failure, as text without any value that the provider sent. */
export const providerFaultOf = (error: unknown): ProviderFault => {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof ProviderFault) return one;
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
};

const textOf = (value: unknown): string | null => {
  const text = typeof value === 'string' ? value.normalize('NFC').trim() : '';
  const isStorable = ![...text].some((character) => character < ' ' || character === '\u007f');
  return text === '' || text.length > 255 || !isStorable ? null : text;
};

// What a provider sends is not validated: any member may be anything.
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 2_048) : null);
const textsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.flatMap((one: unknown) => (typeof one === 'string' ? one.slice(0, 255) : [])).slice(0, 100)
    : [];

/**
 * The OpenID provider of the settings. Its metadata are cached; the keys that sign ID tokens are read at each sign-in, so that they can be
 * rotated.
 */
export const openIdProvider = (settings: OidcClientSettings, warn: (message: string) => void) => {
  let cached: { readonly metadata: ServerMetadata; readonly fetchedAt: number } | undefined;
  let pending: Promise<ServerMetadata> | undefined;

  const base = (): URL => {
    const text = settings.discoverUrl.replace(wellKnown, '');
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || (url.protocol !== 'https:' && !isOnLoopback(url)))
      throw new ProviderFault('The address of the provider must begin with https://.');
    if (url.username !== '' || url.search !== '' || url.hash !== '')
      throw new ProviderFault('The address of the provider must have no user, query or fragment.');
    return url;
  };

  const client = { id_token_signed_response_alg: settings.idTokenSigningAlgorithm };

  const discover = async (): Promise<ServerMetadata> => {
    const url = base();
    const options = {
      timeout: timeoutSeconds,
      [customFetch]: providerFetch(url),
      execute: isOnLoopback(url) ? [allowInsecureRequests] : [],
    };
    try {
      return (await discovery(url, settings.clientId, client, None(), options)).serverMetadata();
    } catch (error) {
      // Some issuers end with a slash, which their address of discovery does not show.
      if ((error as { code?: unknown }).code !== 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED' || url.href.endsWith('/'))
        throw error;
      const withSlash = new URL(`${url.href}/`);
      return (await discovery(withSlash, settings.clientId, client, None(), options)).serverMetadata();
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
        `Sign-in: the OpenID provider at ${base().origin} could not be discovered again (${providerFaultOf(error).message}). Its last metadata are used.`,
      );
    }
    return cached.metadata;
  };

  const configuration = async (): Promise<Configuration> => {
    const url = base();
    const server = await metadata();
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const { secret } = settings;
    const authentication = !secret
      ? None()
      : methods.includes('client_secret_basic')
        ? ClientSecretBasic(secret)
        : ClientSecretPost(secret);
    const config = new Configuration(server, settings.clientId, client, authentication);
    config.timeout = timeoutSeconds;
    config[customFetch] = providerFetch(url);
    if (isOnLoopback(url)) allowInsecureRequests(config);
    enableNonRepudiationChecks(config);
    return config;
  };

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
    complete: async (callback: URL, { state, nonce, verifier }: LoginChecks): Promise<ProviderClaims> => {
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
      const lacks = claims['email'] === undefined || (enableGroupSyncing && groupsIn(claims, path) === undefined);
      const userInfo =
        lacks && config.serverMetadata().userinfo_endpoint !== undefined
          ? await fetchUserInfo(config, tokens.access_token, claims.sub)
          : undefined;
      if (enableGroupSyncing && groupsIn(claims, path) === undefined && hasOmittedGroups(claims, path))
        throw new ProviderFault(
          'You are a member of more groups than the provider puts into a token. Ask its administrator to send only the groups that are assigned to Bunting.',
        );

      // The source of the address also tells whether it is verified.
      const source = claims['email'] === undefined ? userInfo : claims;
      const email = textOf(source?.['email'])?.toLowerCase() ?? null;
      const verified = source?.['email_verified'];
      const isVerified = verified === true || verified === 'true' || (verified === undefined && settings.trustEmails);
      return {
        issuer: claims.iss,
        subject: claims.sub,
        name: textOf(claims['name']) ?? textOf(userInfo?.['name']),
        email: isVerified ? email : null,
        hasUnverifiedEmail: email !== null && !isVerified,
        groups: enableGroupSyncing
          ? (groupsIn(claims, path) ?? (userInfo === undefined ? [] : groupsIn(userInfo, path)) ?? [])
          : undefined,
      };
    },
    /** The address that ends the session at the provider; undefined where the provider has none. */
    signOutUrl: async (returnTo: string): Promise<URL | undefined> => {
      const config = await configuration();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      return buildEndSessionUrl(config, { client_id: settings.clientId, post_logout_redirect_uri: returnTo });
    },
  };
};
export type OpenIdProvider = ReturnType<typeof openIdProvider>;

/** What the provider of the settings publishes, for a check of settings. @throws Refusal 400 with the fault of the provider */
export const discoverProvider = async (settings: OidcClientSettings): Promise<DiscoveredProvider> => {
  // Discovery needs no client, but the library requires an id.
  const clientId = settings.clientId || 'bunting';
  try {
    return await openIdProvider({ ...settings, clientId }, () => undefined).discover();
  } catch (error) {
    throw invalidProperty(providerFaultOf(error).message.replace(/\.$/, ''), '/body/discoverUrl');
  }
};
