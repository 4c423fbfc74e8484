import type { Caller } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { ReplyOrReplay, WriteContext, Outbox, OutboxProducer } from '@bunting/outbox';
import type { AccessEvent } from '../domain/access-event.ts';
import { requireAdministratorLeft } from './rights/require-administrator-left.ts';
import { groupRepository } from './accounts/group-repository.ts';
import { identityRepository } from './identity/identity-repository.ts';
import { scimRepository } from './identity/scim-repository.ts';
import { settingRepository } from './identity/setting-repository.ts';
import { userRepository } from './accounts/user-repository.ts';
import { projectRoleRepository } from './rights/project-role-repository.ts';
import { roleRepository } from './rights/role-repository.ts';
import { lockExistingProjects } from './projects/existing-projects.ts';
import { inviteLinkRepository } from './links/invite-link-repository.ts';
import { oneTimeLinkRepository } from './links/one-time-link-repository.ts';
import { passwordRepository } from './passwords/password-repository.ts';
import { type SessionLimits, sessionRepository } from './sessions/session-repository.ts';
import {
  derivedSecretBytes,
  newScimSecret,
  type NewSecret,
  type SecretBytes,
  regenerateSecret,
} from './tokens/token-secret.ts';
import { tokenRepository } from './tokens/token-repository.ts';
import type { TokenCipher } from './tokens/token-cipher.ts';
import type { TokenHasher } from './tokens/token-hasher.ts';

/** The caller, time and idempotency key of a write. */
export interface GatewayWriteContext extends WriteContext {
  readonly caller: Caller;
  readonly now: Date;
}

/** Repositories and events within one transaction: all is committed, or nothing. */
export interface GatewayTransaction {
  readonly users: ReturnType<typeof userRepository>;
  readonly groups: ReturnType<typeof groupRepository>;
  readonly roles: ReturnType<typeof roleRepository>;
  readonly projectRoles: ReturnType<typeof projectRoleRepository>;
  readonly tokens: ReturnType<typeof tokenRepository>;
  readonly sessions: ReturnType<typeof sessionRepository>;
  readonly passwords: ReturnType<typeof passwordRepository>;
  readonly identities: ReturnType<typeof identityRepository>;
  readonly scim: ReturnType<typeof scimRepository>;
  readonly settings: ReturnType<typeof settingRepository>;
  readonly links: ReturnType<typeof oneTimeLinkRepository>;
  readonly inviteLinks: ReturnType<typeof inviteLinkRepository>;
  /** @throws Refusal `InvalidOperationError` when the installation would lose its last administrator */
  readonly requireAdministratorLeft: () => Promise<void>;
  /** Locks projects against deletion until the transaction ends. @throws Refusal `NotFoundError` for a deleted one */
  readonly lockExistingProjects: (projects: readonly string[]) => Promise<void>;
  readonly emit: (event: AccessEvent) => void;
  /** Emits an event unless `data` equals `preData`. Returns whether it did. */
  readonly emitIfChanged: (event: AccessEvent) => boolean;
  /** A new token of SCIM, and the hash that is stored. */
  readonly newScimToken: () => NewSecret & { readonly hash: Buffer };
  /** generates secrets in this transaction; random ones if undefined */
  readonly secretBytes: SecretBytes | undefined;
}

/** A reply with a masked secret, and the secret that replaces it in the response. */
export interface ReplyWithSecret<T extends { readonly secret: string }> {
  readonly reply: T;
  readonly secret: string;
}

export interface UnitOfWork {
  /** Runs a job whose result is the reply; with an `Idempotency-Key` the reply is stored and replayed on retry. */
  <T>(request: GatewayWriteContext, job: (work: GatewayTransaction) => Promise<T>): Promise<ReplyOrReplay<T>>;
  /** The same for a reply with a secret: it is stored masked, and a retry gets the secret regenerated. */
  readonly revealingSecret: <T extends { readonly secret: string }>(
    request: GatewayWriteContext,
    job: (work: GatewayTransaction) => Promise<ReplyWithSecret<T>>,
  ) => Promise<T>;
  /** The same for a reply whose secret can be derived: the reply is stored without it, and `complete` adds it. */
  readonly completing: <T, R>(
    request: GatewayWriteContext,
    job: (work: GatewayTransaction) => Promise<T>,
    complete: (stored: T) => R,
  ) => Promise<R>;
  /** The stored reply of a retry, for a write that computes much before its transaction. */
  readonly replay: (request: GatewayWriteContext) => ReturnType<OutboxProducer['replay']>;
}

/** @param cipher encrypts the secrets of SDK tokens so that they can be listed; without it only hashes are stored */
export const unitOfWork = (
  outboxProducer: Pick<OutboxProducer, 'work' | 'replay'>,
  hasher: TokenHasher,
  cipher: TokenCipher | undefined,
  sessionLimits: SessionLimits,
): UnitOfWork => {
  const bytesOf = ({ idempotency }: GatewayWriteContext): SecretBytes | undefined =>
    idempotency === undefined ? undefined : derivedSecretBytes(hasher, idempotency);

  const workWith = (request: GatewayWriteContext, tx: Tx, outbox: Outbox): GatewayTransaction => {
    const { caller, now } = request;
    const emit = ({ type, project = null, environment = null, data = null, preData = null }: AccessEvent): void =>
      outbox.emit([
        {
          type,
          createdAt: now.toISOString(),
          createdBy: caller.name,
          createdByUserId: caller.id,
          project,
          environment,
          featureName: null,
          data: data as Record<string, unknown> | null,
          preData: preData as Record<string, unknown> | null,
          tags: [],
        },
      ]);
    return {
      users: userRepository(tx),
      groups: groupRepository(tx),
      roles: roleRepository(tx),
      projectRoles: projectRoleRepository(tx),
      tokens: tokenRepository(tx, hasher, cipher),
      sessions: sessionRepository(tx, hasher, sessionLimits),
      passwords: passwordRepository(tx),
      identities: identityRepository(tx),
      scim: scimRepository(tx),
      settings: settingRepository(tx),
      newScimToken: () => {
        const made = newScimSecret(bytesOf(request));
        return { ...made, hash: hasher(made.secret).hash };
      },
      links: oneTimeLinkRepository(tx, hasher),
      inviteLinks: inviteLinkRepository(tx),
      requireAdministratorLeft: () => requireAdministratorLeft(tx),
      lockExistingProjects: (projects) => lockExistingProjects(tx, projects),
      secretBytes: bytesOf(request),
      emit,
      emitIfChanged: (event) => {
        const isChanged = JSON.stringify(event.data) !== JSON.stringify(event.preData);
        if (isChanged) emit(event);
        return isChanged;
      },
    };
  };

  const work = <T>(
    request: GatewayWriteContext,
    job: (work: GatewayTransaction) => Promise<T>,
  ): Promise<ReplyOrReplay<T>> => outboxProducer.work(request, (tx, outbox) => job(workWith(request, tx, outbox)));

  const revealingSecret: UnitOfWork['revealingSecret'] = async <T extends { readonly secret: string }>(
    request: GatewayWriteContext,
    job: (work: GatewayTransaction) => Promise<ReplyWithSecret<T>>,
  ): Promise<T> => {
    let secretOfReply: string | undefined;
    const result = await work(request, async (tx) => {
      const { reply, secret } = await job(tx);
      secretOfReply = secret;
      return reply;
    });
    // The stored reply has the masked secret, so its text must not become the response.
    if (request.idempotency !== undefined) delete request.idempotency.stored;
    if (secretOfReply !== undefined) return { ...(result as T), secret: secretOfReply };
    // A replay: the result is the text of the stored reply.
    const stored = JSON.parse((result as { readonly text: string }).text) as T;
    if (stored.secret === '') return stored;
    return { ...stored, secret: regenerateSecret(stored.secret, bytesOf(request) as SecretBytes) };
  };

  const completing: UnitOfWork['completing'] = async <T, R>(
    request: GatewayWriteContext,
    job: (work: GatewayTransaction) => Promise<T>,
    complete: (stored: T) => R,
  ): Promise<R> => {
    let fresh: { readonly result: T } | undefined;
    const result = await work(request, async (tx) => {
      const made = await job(tx);
      fresh = { result: made };
      return made;
    });
    // The stored text lacks the secret, so it must not become the response.
    if (request.idempotency !== undefined) delete request.idempotency.stored;
    return complete(fresh?.result ?? (JSON.parse((result as { readonly text: string }).text) as T));
  };
  const replay: UnitOfWork['replay'] = (request) => outboxProducer.replay(request);
  return Object.assign(work, { revealingSecret, completing, replay });
};
