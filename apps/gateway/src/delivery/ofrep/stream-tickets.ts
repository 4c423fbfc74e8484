import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** The content of a ticket: the token that it stands for, and what was evaluated with it. The token is checked again when a stream opens. */
export interface StreamTicket {
  readonly tokenId: string;
  readonly environment: string;
  /** the hash of the token's scope: a ticket is invalid once the scope differs */
  readonly scopeHash: string;
  /** the revision that the client has evaluated */
  readonly revision: number;
  /** milliseconds since 1970 */
  readonly expiresAt: number;
}

const macOf = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** A hash of a scope, shortened so that the URL with the ticket stays short. */
export const hashOfScope = (scope: object): string => hash('sha256', JSON.stringify(scope), 'base64url').slice(0, 16);

/**
 * Signed tickets for event streams, since a browser cannot send a token with the request for one. A ticket names its token by id and carries
 * no secret.
 * @param key the same on all replicas
 */
export const streamTickets = (key: Buffer, now: () => number = Date.now) => ({
  issue: ({ tokenId, environment, scopeHash, revision, expiresAt }: StreamTicket): string => {
    const payload = JSON.stringify([tokenId, environment, scopeHash, revision, expiresAt]);
    const text = Buffer.from(payload).toString('base64url');
    return `${text}.${macOf(key, text).toString('base64url')}`;
  },
  /** The content of a ticket; undefined for one that was not issued with this key, or has expired. */
  read: (ticket: string): StreamTicket | undefined => {
    const [text = '', signature = ''] = ticket.split('.', 2);
    const received = Buffer.from(signature, 'base64url');
    const expected = macOf(key, text);
    if (received.length !== expected.length || !timingSafeEqual(received, expected)) return undefined;
    const [tokenId, environment, scopeHash, revision, expiresAt] = JSON.parse(
      Buffer.from(text, 'base64url').toString(),
    ) as [string, string, string, number, number];
    return expiresAt > now() ? { tokenId, environment, scopeHash, revision, expiresAt } : undefined;
  },
});
export type StreamTickets = ReturnType<typeof streamTickets>;
