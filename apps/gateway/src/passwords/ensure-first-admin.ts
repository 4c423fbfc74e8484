import type { GatewayConfig } from '../config.ts';
import { passwordFaults } from '../domain/accounts/password-policy.ts';
import { predefinedRole } from '../domain/rights/roles.ts';
import { namesFault, optionalEmail } from '../domain/accounts/user-names.ts';
import { accountCreated } from '../domain/accounts/accounts.ts';
import type { PasswordHasher } from './password-hasher.ts';
import type { GatewayReads } from '../persistence/gateway-reads.ts';
import type { TransactionContext, UnitOfWork } from '../persistence/unit-of-work.ts';

type Settings = Pick<GatewayConfig, 'INIT_ADMIN_EMAIL' | 'INIT_ADMIN_PASSWORD'>;

/** Hours for which the link that a start creates can be used. */
const linkHours = 1;

const notAccepted = (setting: keyof Settings, fault: string): Error =>
  new Error(`${setting} is not accepted: ${fault}`);

/**
 * The first administrator of the settings; undefined where they name none.
 * @throws Error when only one of the settings is present, the e-mail address is malformed, or the password is weak
 */
export const configuredAdmin = ({ INIT_ADMIN_EMAIL: email, INIT_ADMIN_PASSWORD: password }: Settings) => {
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined || password === undefined)
    throw new Error('INIT_ADMIN_EMAIL and INIT_ADMIN_PASSWORD (or INIT_ADMIN_PASSWORD_FILE) are required together.');
  const [weakness] = passwordFaults(password);
  if (weakness !== undefined) throw notAccepted('INIT_ADMIN_PASSWORD', weakness);
  const names = { name: null, username: null, email: optionalEmail(email) };
  const fault = namesFault(names);
  if (fault !== undefined) throw notAccepted('INIT_ADMIN_EMAIL', `${fault.reason}.`);
  return { names, password };
};
export type ConfiguredAdmin = NonNullable<ReturnType<typeof configuredAdmin>>;

export interface FirstAdminOptions {
  readonly transaction: UnitOfWork;
  readonly context: TransactionContext;
  readonly reads: Pick<GatewayReads, 'users'>;
  readonly passwords: PasswordHasher;
  /** the administrator of the settings, if they name one */
  readonly configured: ConfiguredAdmin | undefined;
  /** whether a link is created where the settings name no administrator */
  readonly needsFirstAdminLink: boolean;
}

/**
 * While no user exists, creates the administrator of the settings, or else a link by which the first administrator is created once and within an
 * hour. @returns the secret of the link, which is stored nowhere
 */
export const ensureFirstAdmin = async ({
  transaction,
  context,
  reads,
  passwords: hasher,
  configured,
  needsFirstAdminLink,
}: FirstAdminOptions): Promise<string | undefined> => {
  if (configured === undefined && !needsFirstAdminLink) return undefined;
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
};
