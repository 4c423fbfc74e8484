import type { Caller } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { type Outbox, type OutboxProducer, parsedReply, type ReplyOrReplay, type WriteContext } from '@bunting/outbox';
import type { AccessEvent } from '../domain/access-event.ts';
import { isAdministratorLeft, requireAdministratorLeft } from './rights/require-administrator-left.ts';
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
import { derivedSecretBytes, newScimSecret, type SecretBytes, regenerateSecret } from './tokens/token-secret.ts';
import { tokenRepository } from './tokens/token-repository.ts';
import type { TokenCipher } from './tokens/token-cipher.ts';
import type { TokenHasher } from './tokens/token-hasher.ts';

/** The caller, time and idempotency key of a write. */
export interface GatewayWriteContext extends WriteContext {
  readonly caller: Caller;
  readonly now: Date;
}

/** What the repositories need to store secrets and sessions. */
interface AccessSettings {
  readonly hasher: TokenHasher;
  /** encrypts the secrets of SDK tokens so that they can be listed; without it only hashes are stored */
  readonly cipher: TokenCipher | undefined;
  readonly sessionLimits: SessionLimits;
}

/** The bytes of secrets that a retry of the request must get again; undefined for random ones. */
const secretBytesFor = ({ idempotency }: GatewayWriteContext, hasher: TokenHasher): SecretBytes | undefined =>
  idempotency === undefined ? undefined : derivedSecretBytes(hasher, idempotency);

const eventRecorder = (outbox: Outbox, { caller, now }: GatewayWriteContext) => {
  const origin = { createdAt: now.toISOString(), createdBy: caller.name, createdByUserId: caller.id };
  const emit = (events: readonly AccessEvent[]): void =>
    outbox.emit(
      events.map(({ type, project = null, environment = null, data = null, preData = null }) => ({
        ...origin,
        type,
        project,
        environment,
        featureName: null,
        data: data as Record<string, unknown> | null,
        preData: preData as Record<string, unknown> | null,
        tags: [],
      })),
    );
  return {
    emit,
    /** Emits an event unless `data` equals `preData`. Returns whether it did. */
    emitIfChanged: (event: AccessEvent): boolean => {
      const isChanged = JSON.stringify(event.data) !== JSON.stringify(event.preData);
      if (isChanged) emit([event]);
      return isChanged;
    },
  };
};

/** Repositories and events on one transaction. All that they store and emit is committed, or nothing. */
const repositories = (
  tx: Tx,
  outbox: Outbox,
  request: GatewayWriteContext,
  { hasher, cipher, sessionLimits }: AccessSettings,
) => {
  const secretBytes = secretBytesFor(request, hasher);
  return {
    events: eventRecorder(outbox, request),
    groups: groupRepository(tx),
    identities: identityRepository(tx),
    inviteLinks: inviteLinkRepository(tx),
    links: oneTimeLinkRepository(tx, hasher),
    /** Locks projects against deletion until the transaction ends. @throws Refusal `NotFoundError` for a deleted one */
    lockExistingProjects: (projects: readonly string[]) => lockExistingProjects(tx, projects),
    /** A new token of SCIM, and the hash that is stored. */
    newScimToken: () => {
      const made = newScimSecret(secretBytes);
      return { ...made, hash: hasher(made.secret).hash };
    },
    passwords: passwordRepository(tx),
    projectRoles: projectRoleRepository(tx),
    /** Whether the installation has an administrator after the writes of the transaction. */
    isAdministratorLeft: () => isAdministratorLeft(tx),
    /** @throws Refusal `InvalidOperationError` when the installation would lose its last administrator */
    requireAdministratorLeft: () => requireAdministratorLeft(tx),
    roles: roleRepository(tx),
    scim: scimRepository(tx),
    /** generates secrets in this transaction; random ones if undefined */
    secretBytes,
    sessions: sessionRepository(tx, hasher, sessionLimits),
    settings: settingRepository(tx),
    tokens: tokenRepository(tx, hasher, cipher),
    users: userRepository(tx),
  };
};
export type Transaction = ReturnType<typeof repositories>;

type Job<T> = (tx: Transaction) => Promise<T>;

/** A reply with a masked secret, and the secret that replaces it in the response. */
export interface ReplyWithSecret<T extends { readonly secret: string }> {
  readonly reply: T;
  readonly secret: string;
}

export interface UnitOfWork {
  /** Runs a job whose result is the reply; with an `Idempotency-Key` the reply is stored and replayed on retry. */
  <T>(request: GatewayWriteContext, job: Job<T>): Promise<ReplyOrReplay<T>>;
  /** The same for a reply with a secret: it is stored masked, and a retry gets the secret regenerated. */
  readonly revealingSecret: <T extends { readonly secret: string }>(
    request: GatewayWriteContext,
    job: Job<ReplyWithSecret<T>>,
  ) => Promise<T>;
  /** The same for a reply whose secret can be derived: the reply is stored without it, and `complete` adds it. */
  readonly completing: <T, R>(request: GatewayWriteContext, job: Job<T>, complete: (stored: T) => R) => Promise<R>;
  /** The stored reply of a retry, for a write that computes much before its transaction. */
  readonly replay: (request: GatewayWriteContext) => ReturnType<OutboxProducer['replay']>;
}

/** The only way to write. */
export const unitOfWork = (
  outboxProducer: Pick<OutboxProducer, 'work' | 'replay'>,
  settings: AccessSettings,
): UnitOfWork => {
  const work = <T>(request: GatewayWriteContext, job: Job<T>): Promise<ReplyOrReplay<T>> =>
    outboxProducer.work(request, (tx, outbox) => job(repositories(tx, outbox, request, settings)));

  const completing: UnitOfWork['completing'] = async <T, R>(
    request: GatewayWriteContext,
    job: Job<T>,
    complete: (stored: T) => R,
  ): Promise<R> => {
    const result = await work(request, job);
    // The stored text lacks the secret, so it must not become the response.
    if (request.idempotency !== undefined) delete request.idempotency.stored;
    return complete(parsedReply(result));
  };

  const revealingSecret: UnitOfWork['revealingSecret'] = <T extends { readonly secret: string }>(
    request: GatewayWriteContext,
    job: Job<ReplyWithSecret<T>>,
  ): Promise<T> => {
    let secretOfReply: string | undefined;
    return completing(
      request,
      async (tx) => {
        const { reply, secret } = await job(tx);
        secretOfReply = secret;
        return reply;
      },
      (stored) => {
        if (secretOfReply !== undefined) return { ...stored, secret: secretOfReply };
        if (stored.secret === '') return stored;
        const secretBytes = secretBytesFor(request, settings.hasher) as SecretBytes;
        return { ...stored, secret: regenerateSecret(stored.secret, secretBytes) };
      },
    );
  };

  const replay: UnitOfWork['replay'] = (request) => outboxProducer.replay(request);
  return Object.assign(work, { revealingSecret, completing, replay });
};
