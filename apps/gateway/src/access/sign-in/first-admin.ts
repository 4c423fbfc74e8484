import { systemTraceparent } from '@bunting/bus';
import { Refusal, systemCaller } from '@bunting/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayConfig } from '../../config.ts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { TransactionContext, UnitOfWork } from '../../unit-of-work/unit-of-work.ts';
import type { PasswordHasher } from '../passwords/password-hasher.ts';
import { passwordFaults } from '../passwords/password-policy.ts';
import { predefinedRole } from '../roles/role.ts';
import { type ConfiguredTokens, ensureInitialTokens } from '../tokens/initial-tokens.ts';
import { accountCreated, namesFault, optionalEmail } from '../users/account.ts';

/** Hours for which the link that a start creates can be used. */
const linkHours = 1;

interface FirstAdminOrLinkOptions {
  readonly transaction: UnitOfWork;
  readonly context: TransactionContext;
  readonly reads: Pick<GatewayReads, 'users'>;
  readonly passwords: PasswordHasher;
  readonly configured: ConfiguredAdmin | undefined;
}

/**
 * While no user exists, creates the administrator of the settings, or else a link by which the first administrator is created once and within an
 * hour. @returns the secret of the link, which is stored nowhere
 */
async function ensureFirstAdminOrLink({
  transaction,
  context,
  reads,
  passwords: hasher,
  configured,
}: FirstAdminOrLinkOptions): Promise<string | undefined> {
  // Before the hash is computed, which is expensive; no transaction is open meanwhile.
  if (await reads.users.hasUsers()) return undefined;
  const hash = configured === undefined ? undefined : await hasher.hash(configured.password);
  return transaction(context, async ({ users, links, passwords }) => {
    // Replicas may start concurrently.
    await users.lockFirstUserCreation();
    if (await users.hasUsers()) return undefined;
    if (configured === undefined || hash === undefined) {
      const link = { purpose: 'create-first-admin', userId: null, createdBy: null, hours: linkHours } as const;
      return (await links.create(link)).secret;
    }
    const account = { accountType: 'User', rootRole: predefinedRole.admin, isActive: true } as const;
    const user = await users.add(configured.names, account, (admin) => [accountCreated(admin)]);
    await passwords.set(user.id, hash);
    return undefined;
  });
}

type Settings = Pick<GatewayConfig, 'INIT_ADMIN_EMAIL' | 'INIT_ADMIN_PASSWORD'>;

function notAccepted(setting: keyof Settings, fault: string): Error {
  return new Error(`${setting} is not accepted: ${fault}`);
}

/**
 * The first administrator of the settings; undefined where they name none.
 * @throws Error when only one of the settings is present, the e-mail address is malformed, or the password is weak
 */
export function configuredAdmin({ INIT_ADMIN_EMAIL: email, INIT_ADMIN_PASSWORD: password }: Settings) {
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined || password === undefined)
    throw new Error('INIT_ADMIN_EMAIL and INIT_ADMIN_PASSWORD (or INIT_ADMIN_PASSWORD_FILE) are required together.');
  const [weakness] = passwordFaults(password);
  if (weakness !== undefined) throw notAccepted('INIT_ADMIN_PASSWORD', weakness);
  const names = { name: null, username: null, email: optionalEmail(email) };
  const fault = namesFault(names);
  if (fault !== undefined) throw notAccepted('INIT_ADMIN_EMAIL', `${fault.reason}.`);
  return { names, password };
}

type ConfiguredAdmin = NonNullable<ReturnType<typeof configuredAdmin>>;

interface FirstCredentialsOptions extends Pick<FirstAdminOrLinkOptions, 'transaction' | 'reads' | 'passwords'> {
  readonly tokens: ConfiguredTokens;
  readonly admin: FirstAdminOrLinkOptions['configured'];
  readonly warn: (message: string) => void;
  /** aborted when the start is given up */
  readonly stopping: AbortSignal;
}

/** Attempts while the database accepts no connection in time, as when many replicas start at once. */
const maxAttempts = 10;
const attemptPauseMs = 1_000;

/**
 * Waits until the database answers a read. Only that is repeated: a write whose reply is lost may have stored the hash of a secret, which the
 * next attempt would take for one that somebody has seen.
 */
async function reachDatabase({ reads, stopping }: Pick<FirstCredentialsOptions, 'reads' | 'stopping'>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await reads.users.hasUsers();
      return;
    } catch (error) {
      const isUnavailable = error instanceof Refusal && error.kind === 'ServiceUnavailable';
      if (!isUnavailable || attempt === maxAttempts) throw error;
      await sleep(attemptPauseMs, undefined, { signal: stopping }).catch(() => undefined);
      if (stopping.aborted) throw error;
    }
  }
}

/**
 * Creates the tokens and the administrator of the settings, where they are missing. The start ends with the error of a write.
 * @returns the generated admin token, and the secret of the link that creates the first administrator; only hashes of them are stored
 */
export async function ensureFirstCredentials(options: FirstCredentialsOptions) {
  const { transaction, reads, passwords, tokens, admin, warn } = options;
  const context = { caller: systemCaller, now: new Date(), traceparent: systemTraceparent() };
  await reachDatabase(options);
  const adminToken = await ensureInitialTokens({ transaction, context, tokens, warn });
  const linkSecret = await ensureFirstAdminOrLink({ transaction, context, reads, passwords, configured: admin });
  return { adminToken, linkSecret };
}
