import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import Provider, { type Adapter, type AdapterPayload, type Configuration } from 'oidc-provider';

/** The claims of an account of the provider. */
export type Account = Readonly<Record<string, unknown>>;

export const clientId = 'bunting';
export const clientSecret = 'a secret that the provider gave to its client';

/** The algorithms for which the provider has keys. */
export const providerAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
type ProviderAlgorithm = (typeof providerAlgorithms)[number];

const signingKey = async (alg: ProviderAlgorithm): Promise<JWK> => {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, use: 'sig' };
};

/** What the provider stores, in memory. */
const memoryAdapter = () => {
  const stored = new Map<string, AdapterPayload>();
  return (model: string): Adapter => {
    const key = (id: string) => `${model} ${id}`;
    const first = (matches: (payload: AdapterPayload) => boolean) =>
      [...stored].find(([id, payload]) => id.startsWith(`${model} `) && matches(payload))?.[1];
    return {
      upsert: async (id, payload) => void stored.set(key(id), payload),
      find: async (id) => stored.get(key(id)),
      findByUid: async (uid) => first((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => first((payload) => payload.userCode === userCode),
      consume: async (id) => {
        const payload = stored.get(key(id));
        if (payload !== undefined) payload['consumed'] = Math.floor(Date.now() / 1000);
      },
      destroy: async (id) => void stored.delete(key(id)),
      revokeByGrantId: async (grantId) => {
        for (const [id, payload] of stored) if (payload.grantId === grantId) stored.delete(id);
      },
    };
  };
};

/** A certified OpenID provider on loopback. The account that signs in is that of `signsIn`, without a form. */
export const startOpenIdProvider = async (gatewayUrl: string) => {
  const accounts = new Map<string, Account>();
  let next = '';
  let signsWith: ProviderAlgorithm = 'RS256';
  let port = 0;

  const start = async () => {
    const jwks = await Promise.all(providerAlgorithms.map(signingKey));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    const issuer = `http://127.0.0.1:${port}`;
    const configuration: Configuration = {
      adapter: memoryAdapter(),
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          id_token_signed_response_alg: signsWith,
          redirect_uris: [`${gatewayUrl}/auth/oidc/callback`],
          post_logout_redirect_uris: [`${gatewayUrl}/`],
        },
      ],
      claims: { email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      cookies: { keys: ['a key of cookies'] },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: {
          logoutSource: (context, form) => {
            context.body = form;
          },
        },
      },
      findAccount: (_context, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, ...accounts.get(accountId) }),
      }),
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      jwks: { keys: jwks },
      enabledJWA: { idTokenSigningAlgValues: [...providerAlgorithms] },
      loadExistingGrant: async ({ oidc }) => {
        const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session?.accountId ?? '' });
        grant.addOIDCScope('openid email profile groups');
        await grant.save();
        return grant;
      },
      pkce: { required: () => true },
      ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Interaction: 60, Grant: 60, Session: 60 },
    };
    const provider = new Provider(issuer, configuration);
    const handle = provider.callback();
    server.on('request', (request, response) => {
      if (request.url?.startsWith('/interaction/') === true) {
        void provider.interactionFinished(request, response, { login: { accountId: next } });
      } else void handle(request, response);
    });
    return { issuer, server };
  };

  let running = await start();
  const stop = async () => {
    running.server.closeAllConnections();
    await new Promise((resolve) => running.server.close(resolve));
  };
  return {
    issuer: running.issuer,
    /** The account that signs in from now on, with its claims. */
    signsIn: (subject: string, claims: Account): void => {
      next = subject;
      accounts.set(subject, claims);
    },
    stop,
    /** Restarts at the same address with new keys, and signs ID tokens with this algorithm. */
    restart: async (withAlgorithm = signsWith) => {
      signsWith = withAlgorithm;
      running = await start();
    },
  };
};

/** What a forged provider does differently from a real one. */
export interface Forgery {
  /** claims of the ID token that replace the right ones; undefined leaves one out */
  readonly claims?: JWTPayload;
  /** signs with a key that is not published */
  readonly hasUnknownKey?: boolean;
  /** makes the ID token */
  readonly idToken?: (claims: JWTPayload) => string | undefined;
  /** responds to the token request */
  readonly token?: (response: ServerResponse) => void;
}

/** An OpenID provider on loopback that sends wrong tokens and responses. Without a forgery they are right. */
export const startForgedProvider = async () => {
  let forgery: Forgery = {};
  let nonce = '';
  let keys = await generateKeyPair('RS256', { extractable: true });
  let keyId = 'first';
  const json = (response: ServerResponse, body: object) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));

  const idToken = async (): Promise<string | undefined> => {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      sub: 'mallory',
      aud: clientId,
      nonce,
      iat: now,
      exp: now + 60,
      email: 'mallory@example.org',
      email_verified: true,
      ...forgery.claims,
    };
    if (forgery.idToken !== undefined) return forgery.idToken(claims);
    const { privateKey } = forgery.hasUnknownKey === true ? await generateKeyPair('RS256') : keys;
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: keyId }).sign(privateKey);
  };

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    if (pathname === '/.well-known/openid-configuration') {
      return json(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      });
    }
    if (pathname === '/authorize') {
      nonce = searchParams.get('nonce') ?? '';
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'a code');
      back.searchParams.set('state', searchParams.get('state') ?? '');
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (pathname === '/jwks') {
      return void exportJWK(keys.publicKey).then((key) =>
        json(response, { keys: [{ ...key, alg: 'RS256', use: 'sig', kid: keyId }] }),
      );
    }
    if (forgery.token !== undefined) return forgery.token(response);
    void idToken().then((token) =>
      json(response, { access_token: 'an access token', token_type: 'Bearer', id_token: token }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    forge: (wanted: Forgery): void => {
      forgery = wanted;
    },
    /** Replaces the key that ID tokens are signed with. */
    rotateKey: async (): Promise<void> => {
      keys = await generateKeyPair('RS256', { extractable: true });
      keyId = 'second';
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
