import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { clientId } from './openid-provider.ts';

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
