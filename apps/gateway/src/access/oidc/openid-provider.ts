import { type DiscoveredProvider, invalidProperty } from '@bunting/contracts';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { groupsIn, hasOmittedGroups } from '../../domain/oidc/group-claims.ts';
import type { OidcSettingsWithSecret } from './oidc-settings.ts';
import { lacksUserClaims, oidcUserClaims, type OidcUserClaims } from './oidc-claims.ts';
import { oidcClientConfiguration } from '../../oidc/oidc-client-configuration.ts';
import { providerFaultOf, ProviderFault } from '../../oidc/provider-fault.ts';

/** The state of a sign-in that is needed for the callback. */
export interface LoginChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

// The library does not validate the metadata of a provider: each member may be of any type.
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 2_048) : null);
const textsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.flatMap((item: unknown) => (typeof item === 'string' ? item.slice(0, 255) : [])).slice(0, 100)
    : [];

/**
 * The OpenID provider of the settings. Its metadata are cached; the keys that sign ID tokens are read at each sign-in, so that they can be
 * rotated.
 */
export const openIdProvider = (settings: OidcSettingsWithSecret, warn: (message: string) => void) => {
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
};
export type OpenIdProvider = ReturnType<typeof openIdProvider>;

/**
 * The metadata that the provider of the settings publishes, for a check of the settings before they are stored.
 * @throws Refusal 400 with the fault of the provider
 */
export const discoverProvider = async (settings: OidcSettingsWithSecret): Promise<DiscoveredProvider> => {
  // Discovery needs no client, but the library requires an id.
  const clientId = settings.clientId || 'bunting';
  try {
    return await openIdProvider({ ...settings, clientId }, () => undefined).discover();
  } catch (error) {
    throw invalidProperty(providerFaultOf(error).message.replace(/\.$/, ''), '/body/discoverUrl');
  }
};
