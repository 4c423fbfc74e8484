import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import { advisoryLock, type Tx } from '@bunting/database';
import { type InferEntity, LockMode, raw } from '@mikro-orm/postgresql';
import { randomUUID } from 'node:crypto';
import type { ConfiguredToken, StoredConfiguredToken } from './initial-tokens.ts';
import { TokenEntity } from '../../unit-of-work/entities.ts';
import { type SecretCipher, type SecretHasher, maskedConfiguredSecret } from '../../unit-of-work/secrets.ts';

/** A token of the settings, or the one that the first start generates. */
export interface InitialToken extends ConfiguredToken {
  /** the masked form of a generated secret; undefined for a secret that the operator chose */
  readonly masked?: string;
  /** whether it is the token of `BUNTING_ADMIN_TOKEN` */
  readonly isConfiguredAdminToken?: true;
}

function storedTokenOf({
  shown: maskedSecret,
  id,
  kind,
  createdAt,
  revokedAt,
  configured,
}: InferEntity<typeof TokenEntity>): StoredConfiguredToken {
  return {
    id,
    kind,
    maskedSecret,
    createdAt,
    revokedAt,
    configured,
  };
}

export function initialTokenRepository(
  { em, query }: Tx,
  hasher: SecretHasher,
  cipher: SecretCipher | undefined,
  record: RecordEvents,
) {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  return {
    /** Serialises the starts of replicas until the transaction ends. */
    lock: async (): Promise<void> => {
      await advisoryLock({ query }, 'first admin token');
    },
    /** Whether there is an API token, also a revoked one. */
    hasAny: async (): Promise<boolean> => (await em.count(TokenEntity, { kind: { $ne: 'user' } })) > 0,
    add: async (
      { secret, masked, isConfiguredAdminToken, kind, projects, environment }: InitialToken,
      createdAt: string,
      events: readonly EventContent[],
    ): Promise<void> => {
      const id = randomUUID();
      const { selector, hash } = hasher(secret);
      await em.insert(TokenEntity, {
        id,
        kind,
        name: kind,
        selector,
        hash,
        shown: masked ?? maskedConfiguredSecret(id),
        sealed: kind === 'admin' ? null : (cipher?.seal(secret, selector) ?? null),
        user: null,
        projects: [...projects],
        environment,
        createdAt,
        expiresAt: null,
        revokedAt: null,
        configured: isConfiguredAdminToken === true ? 'current' : null,
      });
      record(events);
    },
    /** The token with the secret, also a revoked one; locked until the transaction ends. */
    findForUpdate: async (secret: string): Promise<StoredConfiguredToken | undefined> => {
      const token = await em.findOne(TokenEntity, { selector: hasher(secret).selector }, { lockMode });
      return token === null ? undefined : storedTokenOf(token);
    },
    /** The valid token of `BUNTING_ADMIN_TOKEN`, as the last start stored it; locked until the transaction ends. */
    listCurrentForUpdate: async (): Promise<readonly StoredConfiguredToken[]> =>
      (await em.find(TokenEntity, { configured: 'current', revokedAt: null }, { lockMode })).map(storedTokenOf),
    /** Revokes the token of an earlier value of `BUNTING_ADMIN_TOKEN`, and marks it as replaced. */
    revokeReplaced: async (id: string, events: readonly EventContent[]): Promise<void> => {
      await em.nativeUpdate(TokenEntity, { id }, { revokedAt: raw('now()'), configured: 'replaced' });
      record(events);
    },
    /** Marks a stored token as that of `BUNTING_ADMIN_TOKEN`, and makes it valid again if it was revoked. */
    markAsCurrent: async (id: string, events: readonly EventContent[]): Promise<void> => {
      await em.nativeUpdate(TokenEntity, { id }, { revokedAt: null, configured: 'current' });
      record(events);
    },
  };
}
