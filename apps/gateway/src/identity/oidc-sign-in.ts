import { type Caller, type Refusal, systemCaller, type User } from '@bunting/contracts';
import { requireRootRole } from '../operations/users/root-roles.ts';
import { userEventData } from '../domain/accounts/users.ts';
import type { Transaction } from '../persistence/unit-of-work.ts';
import type { SessionClient } from '../persistence/sessions/session-repository.ts';
import type { OidcClientSettings } from './oidc-settings.ts';
import type { ProviderClaims } from './openid-provider.ts';

/** The caller of the changes of a sign-in: it creates users and synchronises memberships. */
export const ssoCaller: Caller = { id: systemCaller.id, name: 'SSO', grants: [] };

/** A refused sign-in of a user whom the provider has authenticated. The message is for that user. */
export class SignInDenied extends Error {}

export interface SignedIn {
  readonly user: User;
  /** of the new session */
  readonly secret: string;
  /** groups that the provider no longer names, whose membership stays because the last administrator would be lost */
  readonly keptGroups: readonly string[];
}

const requireAllowedDomain = (email: string | null, emailDomains: string): void => {
  const domains = emailDomains.split(',').flatMap((domain) => domain.trim().toLowerCase().replace(/^@/, '') || []);
  if (domains.length === 0) return;
  if (email === null || !domains.includes(email.slice(email.lastIndexOf('@') + 1)))
    throw new SignInDenied('E-mail addresses of your domain may not sign in here. Ask an administrator of Bunting.');
};

/**
 * Finds or creates the user of a first sign-in. An existing user is linked by a verified e-mail address, and only while no other subject
 * of the provider is linked to it, so that an address that is given to another user later does not open the account.
 */
const firstSignIn = async (
  tx: Transaction,
  { issuer, subject, name, email, hasUnverifiedEmail }: ProviderClaims,
  settings: OidcClientSettings,
): Promise<User> => {
  const { identities, users, events } = tx;
  if (email === null) {
    throw new SignInDenied(
      hasUnverifiedEmail
        ? 'The provider has not verified your e-mail address. Verify it there, and sign in again.'
        : 'The provider names no e-mail address for you. Ask its administrator to add one.',
    );
  }
  const existing = await identities.findByEmail(email);
  if (existing !== undefined) {
    const user = existing.isService ? undefined : await users.findForUpdate(existing.id, { only: 'users' });
    if (user === undefined || (await identities.isLinked(user.id, issuer))) {
      throw new SignInDenied(
        'Your e-mail address belongs to an account of someone else. Ask an administrator of Bunting to delete that account.',
      );
    }
    await identities.link(user.id, issuer, subject);
    return user;
  }
  if (!settings.autoCreate)
    throw new SignInDenied('You have no account yet. Ask an administrator of Bunting to create one.');
  const rootRole = await requireRootRole(tx, settings.defaultRootRoleId ?? settings.defaultRootRole);
  const user = await users.add({ name, username: null, email }, rootRole, false);
  await identities.link(user.id, issuer, subject);
  events.emit([{ type: 'user-created', data: userEventData(user) }]);
  return user;
};

/**
 * Synchronises the memberships that sign-ins manage with the groups of the provider.
 * @returns the names of groups that the user could not be removed from
 */
const syncGroups = async (
  { groups, requireAdministratorLeft, events }: Transaction,
  userId: number,
  names: readonly string[],
): Promise<readonly string[]> => {
  const { added, removed } = await groups.syncMemberships(userId, names, ssoCaller.name);
  events.emit(
    added.map(({ id, name }) => ({ type: 'group-user-added', data: { groupId: id, groupName: name, userId } })),
  );
  if (removed.length === 0) return [];
  try {
    await requireAdministratorLeft();
  } catch (error) {
    if ((error as Partial<Refusal>).kind !== 'InvalidOperationError') throw error;
    await groups.restoreMemberships(
      userId,
      removed.map(({ id }) => id),
      ssoCaller.name,
    );
    return removed.map(({ name }) => name);
  }
  events.emit(
    removed.map(({ id, name }) => ({ type: 'group-user-removed', preData: { groupId: id, groupName: name, userId } })),
  );
  return [];
};

/**
 * Signs in a user whom the provider has authenticated: finds or creates the account, synchronises groups and starts a session.
 * @throws SignInDenied with the reason, in a message for the user
 */
export const signInWithProvider = async (
  tx: Transaction,
  claims: ProviderClaims,
  settings: OidcClientSettings,
  client: SessionClient,
): Promise<SignedIn> => {
  const { issuer, subject, email, groups } = claims;
  requireAllowedDomain(email, settings.emailDomains);
  const userId = await tx.identities.findForUpdate(issuer, subject);
  const user =
    userId === undefined
      ? await firstSignIn(tx, claims, settings)
      : await tx.users.findForUpdate(userId, { only: 'users' });
  if (user === undefined || !user.active)
    throw new SignInDenied('Your account is deactivated. Ask an administrator of Bunting to activate it.');
  const keptGroups = groups === undefined ? [] : await syncGroups(tx, user.id, groups);
  const secret = await tx.sessions.start(user.id, client);
  return { user, secret, keptGroups };
};
