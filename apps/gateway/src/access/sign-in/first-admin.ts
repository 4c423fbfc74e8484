import { predefinedRole } from '../roles/role.ts';
import { accountCreated } from '../../domain/accounts/accounts.ts';
import type { PasswordHasher } from '../passwords/password-hasher.ts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { TransactionContext, UnitOfWork } from '../../unit-of-work/unit-of-work.ts';
import type { ConfiguredAdmin } from '../../passwords/configured-admin.ts';

/** Hours for which the link that a start creates can be used. */
const linkHours = 1;

export interface FirstAdminOrLinkOptions {
  readonly transaction: UnitOfWork;
  readonly context: TransactionContext;
  readonly reads: Pick<GatewayReads, 'users'>;
  readonly passwords: PasswordHasher;
  /** the administrator of the settings, if they name one */
  readonly configured: ConfiguredAdmin | undefined;
}

/**
 * While no user exists, creates the administrator of the settings, or else a link by which the first administrator is created once and within an
 * hour. @returns the secret of the link, which is stored nowhere
 */
export const ensureFirstAdminOrLink = async ({
  transaction,
  context,
  reads,
  passwords: hasher,
  configured,
}: FirstAdminOrLinkOptions): Promise<string | undefined> => {
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
