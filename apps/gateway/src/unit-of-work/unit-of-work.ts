import type { Caller } from '@bunting/contracts';
import type { CommitLimits, Tx } from '@bunting/database';
import {
  isReplay,
  type Outbox,
  type OutboxProducer,
  parsedReply,
  recordEvents,
  type ReplyOrReplay,
  type WriteContext,
} from '@bunting/outbox';
import { groupRepository } from '../access/groups/group-store.ts';
import { inviteLinkRepository } from '../access/invite-links/invite-link-store.ts';
import { oidcIdentityRepository } from '../access/oidc/oidc-identity-store.ts';
import { oneTimeLinkRepository } from '../access/passwords/one-time-link-store.ts';
import { passwordRepository } from '../access/passwords/password-store.ts';
import { projectRoleRepository } from '../access/project-access/project-role-store.ts';
import { endEnvironmentAccess, lockExistingProjects } from '../access/rights/project-store.ts';
import { roleRepository } from '../access/roles/role-store.ts';
import { scimRepository } from '../access/scim/scim-store.ts';
import { type SessionLimits, sessionRepository } from '../access/sessions/session-store.ts';
import { settingRepository } from '../access/sign-in/setting-store.ts';
import { slackAccountRepository } from '../access/slack-accounts/slack-account-store.ts';
import { initialTokenRepository } from '../access/tokens/initial-token-store.ts';
import { tokenRepository } from '../access/tokens/token-store.ts';
import { userRepository } from '../access/users/user-store.ts';
import { type LastAdministratorGuard, lastAdministratorGuard } from './last-administrator-guard.ts';
import {
  derivedSecretBytesGenerator,
  newScimSecret,
  regenerateSecret,
  type SecretBytesGenerator,
  type SecretCipher,
  type SecretHasher,
} from './secrets.ts';

/** The caller and the time of a write, and the time until which it may commit. */
export interface TransactionContext extends CommitLimits {
  readonly caller: Caller;
  readonly now: Date;
  readonly traceparent: string;
}

/** The context of a write by an operation, with the idempotency key of the request. */
export interface GatewayWriteContext extends WriteContext {
  readonly now: Date;
}

/** The context of an operation whose reply is never stored, since its job returns more than the reply. */
export function withoutStoredReply({
  caller,
  now,
  traceparent,
  deadline,
  signal,
}: GatewayWriteContext): TransactionContext {
  return { caller, now, traceparent, deadline, signal };
}

interface SecretStorageOptions {
  readonly hasher: SecretHasher;
  /** encrypts the secrets of SDK tokens so that they can be listed; without it only hashes are stored */
  readonly cipher: SecretCipher | undefined;
  readonly sessionLimits: SessionLimits;
}

/**
 * Generates the bytes of secrets so that a retry of the request gets the same ones; undefined without an idempotency key: they are random
 * then.
 */
function secretBytesGeneratorFor(
  context: TransactionContext | GatewayWriteContext,
  hasher: SecretHasher,
): SecretBytesGenerator | undefined {
  return 'idempotency' in context && context.idempotency !== undefined
    ? derivedSecretBytesGenerator(hasher, context.idempotency)
    : undefined;
}

/** Repositories on one transaction. All that they store, with its events, is committed, or nothing. */
function repositories(
  tx: Tx,
  outbox: Outbox,
  context: TransactionContext | GatewayWriteContext,
  { guard, hasher, cipher, sessionLimits }: SecretStorageOptions & { readonly guard: LastAdministratorGuard },
) {
  const generateSecretBytes = secretBytesGeneratorFor(context, hasher);
  const record = recordEvents(outbox, context);
  const sessions = sessionRepository(tx, hasher, sessionLimits);
  return {
    /** Ends what names an environment that is about to be created. */
    endEnvironmentAccess: async (environment: string): Promise<void> =>
      record(await endEnvironmentAccess(tx, environment, { createdBefore: null, keepsTokensOfSettings: true })),
    groups: groupRepository(tx, guard, record),
    identities: oidcIdentityRepository(tx),
    initialTokens: initialTokenRepository(tx, hasher, cipher, record),
    inviteLinks: inviteLinkRepository(tx, record),
    links: oneTimeLinkRepository(tx, hasher),
    /** Locks projects against deletion until the transaction ends. @throws Refusal `NotFoundError` for a deleted one */
    lockExistingProjects: (projects: readonly string[]) => lockExistingProjects(tx, projects),
    /** A new token of SCIM, and the hash that is stored. */
    newScimToken: () => {
      const generated = newScimSecret(generateSecretBytes);
      return { ...generated, hash: hasher(generated.secret).hash };
    },
    passwords: passwordRepository(tx, sessions),
    projectRoles: projectRoleRepository(tx, record),
    roles: roleRepository(tx, record),
    scim: scimRepository(tx, guard, record),
    /** generates secrets in this transaction; random ones if undefined */
    generateSecretBytes,
    sessions,
    settings: settingRepository(tx, guard, record),
    slackAccounts: slackAccountRepository(tx, hasher, record),
    tokens: tokenRepository(tx, guard, hasher, cipher, record),
    users: userRepository(tx, { guard, sessions, record }),
  };
}
export type Transaction = ReturnType<typeof repositories>;

type Job<T> = (tx: Transaction) => Promise<T>;

export interface ReplyWithSecret<T extends { readonly secret: string }> {
  readonly reply: T;
  readonly secret: string;
}

export interface UnitOfWork {
  /** Runs a job whose result is the reply; with an `Idempotency-Key` the reply is stored and replayed on retry. */
  <T>(request: GatewayWriteContext, job: Job<T>): Promise<ReplyOrReplay<T>>;
  /** Runs a job whose result is stored nowhere. */
  <T>(context: TransactionContext, job: Job<T>): Promise<T>;
  /** Runs a job whose reply contains a secret: the reply is stored with the masked secret, and a retry gets the secret regenerated. */
  readonly revealingSecret: <T extends { readonly secret: string }>(
    request: GatewayWriteContext,
    job: Job<ReplyWithSecret<T>>,
  ) => Promise<T>;
  /** Runs a job whose reply lacks a secret that can be derived: the reply is stored without the secret, and `complete` adds it. */
  readonly completing: <T, R>(request: GatewayWriteContext, job: Job<T>, complete: (stored: T) => R) => Promise<R>;
  /**
   * The stored reply for a retry, so that a write whose computation before the transaction is expensive can omit it; undefined for a first
   * request.
   */
  readonly replay: (request: GatewayWriteContext) => ReturnType<OutboxProducer['replay']>;
}

/** The only way to write for a caller: state, events, and the reply to a write with an `Idempotency-Key`, in one transaction. */
export function unitOfWork(
  { work, replay }: Pick<OutboxProducer, 'work' | 'replay'>,
  options: SecretStorageOptions,
): UnitOfWork {
  const runJob =
    <T>(context: TransactionContext | GatewayWriteContext, job: Job<T>) =>
    async (tx: Tx, outbox: Outbox): Promise<T> => {
      const guard = lastAdministratorGuard(tx);
      const result = await job(repositories(tx, outbox, context, { ...options, guard }));
      await guard.check();
      return result;
    };

  const run = <C extends TransactionContext | GatewayWriteContext, T>(context: C, job: Job<T>) =>
    work(context, runJob(context, job));

  /** Runs a job whose stored reply lacks a secret, so that its text must not become the response. */
  const runMasked = <T>(request: GatewayWriteContext, job: Job<T>): Promise<ReplyOrReplay<T>> =>
    work(request, runJob(request, job), { isMasked: true });

  const revealingSecret: UnitOfWork['revealingSecret'] = async <T extends { readonly secret: string }>(
    request: GatewayWriteContext,
    job: Job<ReplyWithSecret<T>>,
  ): Promise<T> => {
    let secret = '';
    const result = await runMasked(request, async (tx) => {
      const { reply, secret: generatedSecret } = await job(tx);
      secret = generatedSecret;
      return reply;
    });
    if (!isReplay(result)) return { ...result, secret };
    const stored = parsedReply<T>(result);
    const generateBytes = secretBytesGeneratorFor(request, options.hasher);
    if (stored.secret === '') return stored;
    if (generateBytes === undefined) throw new Error('A reply was replayed to a request without an idempotency key.');
    return { ...stored, secret: regenerateSecret(stored.secret, generateBytes) };
  };

  return Object.assign(run, {
    revealingSecret,
    completing: async <T, R>(request: GatewayWriteContext, job: Job<T>, complete: (stored: T) => R): Promise<R> =>
      complete(parsedReply(await runMasked(request, job))),
    replay: (request: GatewayWriteContext) => replay(request),
  });
}
