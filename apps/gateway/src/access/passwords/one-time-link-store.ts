import { type Refusal, refusal } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { timingSafeEqual } from 'node:crypto';
import { invalidLink, type LinkPurpose } from '../refusals.ts';
import {
  type NewSecret,
  newLinkSecret,
  type SecretBytesGenerator,
  type SecretHasher,
} from '../../unit-of-work/secrets.ts';

export interface NewLink {
  readonly purpose: LinkPurpose;
  /** whose password it sets; null for the first administrator */
  readonly userId: number | null;
  /** who created it; null for one that the user requested */
  readonly createdBy: string | null;
  /** hours until it expires */
  readonly hours: number;
}

export interface FoundLink<P extends LinkPurpose> {
  readonly id: string;
  /** whose password it sets; null for the first administrator */
  readonly userId: P extends 'set-password' ? number : null;
  readonly createdBy: string | null;
}

interface Row<P extends LinkPurpose> extends FoundLink<P> {
  readonly hash: Buffer;
  readonly isUsed: boolean;
}

function usedLink(): Refusal {
  return refusal(
    'UsedTokenError',
    'The link has been used already. Sign in with the password that it set, or ask an administrator for another link.',
  );
}

/** The text that is hashed for a link. Its prefix ensures that the hash of a link is never that of a token or a session. */
function linkTextToHash(secret: string): string {
  return `link ${secret}`;
}

/**
 * Ends the links that would set the password of a user. Every write of what a link was made for calls it: the password, the e-mail address
 * that it was mailed to, whether the user is active, and a first sign-in with an OpenID provider.
 */
export async function endPasswordLinks({ query }: Pick<Tx, 'query'>, userId: number): Promise<void> {
  await query('delete from sign_in_link where user_id = $1 and used_at is null', [userId]);
}

function linkBySecret({ query }: Pick<Tx, 'query'>, hasher: SecretHasher, lock: '' | 'for update') {
  return async <P extends LinkPurpose>(secret: string, purpose: P): Promise<FoundLink<P>> => {
    const { selector, hash } = hasher(linkTextToHash(secret));
    const [row] = await query<Row<P>>(
      `select id, user_id as "userId", created_by as "createdBy", hash, used_at is not null as "isUsed"
         from sign_in_link where selector = $1 and purpose = $2 and expires_at > now() ${lock}`,
      [selector, purpose],
    );
    if (row === undefined || !timingSafeEqual(row.hash, hash)) throw invalidLink(purpose);
    if (row.isUsed) throw usedLink();
    return row;
  };
}

export function oneTimeLinkReads(tx: Pick<Tx, 'query'>, hasher: SecretHasher) {
  return {
    /**
     * A link that can be used.
     * @throws Refusal `InvalidTokenError` for an unknown or expired one, `UsedTokenError` for one that was used
     */
    get: linkBySecret(tx, hasher, ''),
  };
}

export function oneTimeLinkRepository(tx: Pick<Tx, 'query'>, hasher: SecretHasher) {
  const { query } = tx;
  return {
    /** Creates a link, which replaces earlier ones of the user. @param generateBytes generates the secret; random if undefined */
    create: async (
      { purpose, userId, createdBy, hours }: NewLink,
      generateBytes: SecretBytesGenerator | undefined = undefined,
    ): Promise<NewSecret> => {
      const created = newLinkSecret(generateBytes);
      const { selector, hash } = hasher(linkTextToHash(created.secret));
      await query('delete from sign_in_link where expires_at < now()');
      if (userId !== null) await endPasswordLinks(tx, userId);
      await query(
        `insert into sign_in_link (purpose, user_id, created_by, selector, hash, expires_at)
       values ($1, $2, $3, $4, $5, now() + make_interval(hours => $6))`,
        [purpose, userId, createdBy, selector, hash, hours],
      );
      return created;
    },
    /** A link that can be used, locked until the transaction ends. @throws Refusal as `oneTimeLinkReads.get` does */
    getForUpdate: linkBySecret(tx, hasher, 'for update'),
    markUsed: async (id: string): Promise<void> => {
      await query('update sign_in_link set used_at = now() where id = $1', [id]);
    },
  };
}
