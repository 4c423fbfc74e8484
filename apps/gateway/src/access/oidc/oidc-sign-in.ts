import { type Caller, systemCaller, type User } from '@bunting/contracts';
import type { OidcSettingsWithSecret } from './oidc-settings.ts';
import type { OidcUserClaims } from './oidc-claims.ts';
import {
  accountToLinkOnFirstSignIn,
  requireActive,
  requireAllowedDomain,
  requireDefaultRole,
  requireStorableSubject,
} from '../../domain/oidc/provider-sign-in.ts';
import {
  membershipsRetainingAdministrator,
  type SynchronisedGroup,
  synchronisedMemberships,
} from '../../domain/oidc/synchronised-memberships.ts';
import { accountCreated } from '../../domain/accounts/accounts.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import type { SessionClient } from '../sessions/session-store.ts';

/** The caller of the changes of a sign-in: it creates users and synchronises memberships. */
export const ssoCaller: Caller = { id: systemCaller.id, name: 'SSO', grants: [] };

export interface SignedIn {
  readonly user: User;
  /** the secret of the new session */
  readonly secret: string;
  /** groups that the provider no longer names, whose membership stays because the last administrator would be lost */
  readonly retainedGroups: readonly SynchronisedGroup[];
}

/** Links the subject of a first sign-in to an existing user, or to a new one. */
const linkFirstSignIn = async (
  { identities, users, roles }: Transaction,
  claims: OidcUserClaims,
  { autoCreate, defaultRootRole, defaultRootRoleId }: OidcSettingsWithSecret,
): Promise<User> => {
  const { issuer, subject, name, email } = claims;
  const account = email === null ? undefined : await users.findByEmailForUpdate(email);
  const isLinked = account !== undefined && (await identities.isLinked(account.id, issuer));
  const existing = accountToLinkOnFirstSignIn({ ...claims, account, isLinked, autoCreate });
  const user =
    existing ??
    (await users.add(
      { name, username: null, email },
      {
        accountType: 'User',
        rootRole: requireDefaultRole(await roles.findRootRole(defaultRootRoleId ?? defaultRootRole)),
        isActive: true,
      },
      (created) => [accountCreated(created)],
    ));
  await identities.link(user.id, issuer, subject);
  return user;
};

/**
 * Synchronises the memberships that sign-ins manage with the groups of the provider. The user must be locked.
 * @returns the groups that the user could not be removed from
 */
export const syncGroups = async (
  { groups }: Pick<Transaction, 'groups'>,
  userId: number,
  names: readonly string[],
): Promise<readonly SynchronisedGroup[]> => {
  const managedGroups = await groups.listManagedBySignIns(userId, names);
  const requested = synchronisedMemberships(userId, managedGroups);
  const leavesAdministrator =
    requested.removed.length === 0 || (await groups.wouldLeaveAdministrator(userId, requested, ssoCaller.name));
  const decision = leavesAdministrator ? requested : membershipsRetainingAdministrator(userId, managedGroups);
  await groups.saveMemberships(userId, decision, ssoCaller.name, decision.events);
  return decision.retained;
};

/**
 * Signs in a user whom the provider has authenticated: finds or creates the account, synchronises groups and starts a session.
 * @throws SignInDenied with the reason, in a message for the user
 */
export const signInWithProvider = async (
  tx: Transaction,
  claims: OidcUserClaims,
  settings: OidcSettingsWithSecret,
  client: SessionClient,
): Promise<SignedIn> => {
  const { issuer, subject, groups } = claims;
  requireAllowedDomain(claims, settings.emailDomains);
  requireStorableSubject(subject);
  const userId = await tx.identities.findForUpdate(issuer, subject);
  const user = requireActive(
    userId === undefined
      ? await linkFirstSignIn(tx, claims, settings)
      : await tx.users.findForUpdate(userId, { only: 'users' }),
  );
  const retainedGroups = groups === undefined ? [] : await syncGroups(tx, user.id, groups);
  const secret = await tx.sessions.start(user.id, client);
  return { user, secret, retainedGroups };
};
