import type { Caller, EventType } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { ReplyOrReplay, WriteContext, Outbox, OutboxProducer } from '@bunting/outbox';
import { requireAdministratorLeft } from './rights/require-administrator-left.ts';
import { groupRepository } from './accounts/group-repository.ts';
import { userRepository } from './accounts/user-repository.ts';
import { projectRoleRepository } from './rights/project-role-repository.ts';
import { roleRepository } from './rights/role-repository.ts';
import { lockExistingProjects } from './projects/existing-projects.ts';
import { derivedSecretBytes, type SecretBytes, regenerateSecret } from './tokens/token-secret.ts';
import { tokenRepository } from './tokens/token-repository.ts';
import type { TokenCipher } from './tokens/token-cipher.ts';
import type { TokenHasher } from './tokens/token-hasher.ts';

/** What happened, as it is told: never with a secret, and never with an address of the network. */
export interface AccessEvent {
  readonly type: EventType;
  readonly project?: string | null;
  readonly environment?: string | null;
  readonly data?: object | null;
  readonly preData?: object | null;
}

/** Who has the work done, and when. */
export interface GatewayWriteContext extends WriteContext {
  readonly caller: Caller;
  readonly now: Date;
}

/** What a job works with. All that it stores and tells is committed together, or nothing is. */
export interface GatewayTransaction {
  readonly users: ReturnType<typeof userRepository>;
  readonly groups: ReturnType<typeof groupRepository>;
  readonly roles: ReturnType<typeof roleRepository>;
  readonly projectRoles: ReturnType<typeof projectRoleRepository>;
  readonly tokens: ReturnType<typeof tokenRepository>;
  /** @throws Refusal when nobody could administer Bunting any more once this work is done. */
  readonly requireAdministratorLeft: () => Promise<void>;
  /** @throws Refusal when one of the projects was deleted since it was heard of; none is until the end of this work. */
  readonly lockExistingProjects: (heardOf: readonly string[]) => Promise<void>;
  readonly emit: (event: AccessEvent) => void;
  /** what secrets are made of here; random where that is not said */
  readonly secretBytes: SecretBytes | undefined;
}

/** A reply that shows no secret, and the secret that goes out with it, this once. */
export interface ReplyWithSecret<T extends { readonly secret: string }> {
  readonly reply: T;
  readonly secret: string;
}

export interface UnitOfWork {
  /** What the job gives is the reply: who asks again with the same `Idempotency-Key` is given its text. */
  <T>(occasion: GatewayWriteContext, job: (work: GatewayTransaction) => Promise<T>): Promise<ReplyOrReplay<T>>;
  /** The same for a reply with a secret, which is stored without it; a retry is given the same secret all the same. */
  readonly revealingSecret: <T extends { readonly secret: string }>(
    occasion: GatewayWriteContext,
    job: (work: GatewayTransaction) => Promise<ReplyWithSecret<T>>,
  ) => Promise<T>;
}

/** @param cipher keeps the secrets of SDK tokens readable; without it they are hashed alone */
export const unitOfWork = (
  telling: Pick<OutboxProducer, 'work'>,
  hasher: TokenHasher,
  cipher: TokenCipher | undefined,
): UnitOfWork => {
  const bytesOf = ({ idempotency }: GatewayWriteContext): SecretBytes | undefined =>
    idempotency === undefined ? undefined : derivedSecretBytes(hasher, idempotency);

  const workWith = (occasion: GatewayWriteContext, tx: Tx, outbox: Outbox): GatewayTransaction => {
    const { caller, now } = occasion;
    return {
      users: userRepository(tx),
      groups: groupRepository(tx),
      roles: roleRepository(tx),
      projectRoles: projectRoleRepository(tx),
      tokens: tokenRepository(tx, hasher, cipher),
      requireAdministratorLeft: () => requireAdministratorLeft(tx),
      lockExistingProjects: (heardOf) => lockExistingProjects(tx, heardOf),
      secretBytes: bytesOf(occasion),
      emit: ({ type, project = null, environment = null, data = null, preData = null }) =>
        outbox.event({
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
        }),
    };
  };

  const work = <T>(
    occasion: GatewayWriteContext,
    job: (work: GatewayTransaction) => Promise<T>,
  ): Promise<ReplyOrReplay<T>> => telling.work(occasion, (tx, outbox) => job(workWith(occasion, tx, outbox)));

  const revealingSecret: UnitOfWork['revealingSecret'] = async <T extends { readonly secret: string }>(
    occasion: GatewayWriteContext,
    job: (work: GatewayTransaction) => Promise<ReplyWithSecret<T>>,
  ): Promise<T> => {
    let made: string | undefined;
    const answer = await work(occasion, async (tx) => {
      const { reply, secret } = await job(tx);
      made = secret;
      return reply;
    });
    // What is stored is other than what goes out, and is meant to be.
    if (occasion.idempotency !== undefined) delete occasion.idempotency.stored;
    if (made !== undefined) return { ...(answer as T), secret: made };
    // It was done before, and the text of the reply came instead.
    const stored = JSON.parse((answer as { readonly text: string }).text) as T;
    return { ...stored, secret: regenerateSecret(stored.secret, bytesOf(occasion) as SecretBytes) };
  };
  return Object.assign(work, { revealingSecret });
};
