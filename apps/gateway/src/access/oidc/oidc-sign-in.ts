import type { EventContent } from '@bunting/contracts';
import { type Caller, systemCaller, type User } from '@bunting/contracts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import { membershipEvents } from '../groups/group.ts';
import type { SessionClient } from '../sessions/session-store.ts';
import { accountCreated, canonicalDomain } from '../users/account.ts';
import { isReadableClaimText, type OidcUserClaims } from './oidc-claims.ts';
import type { OidcSettingsWithSecret } from './oidc-settings.ts';

/** A refused sign-in of a user whom the provider has authenticated. The message is for that user. */
export class SignInDenied extends Error {}

/** The e-mail address of a user, as the provider states it. */
export interface ProviderEmail {
  /** only if the provider has verified it */
  readonly email: string | null;
  readonly hasUnverifiedEmail: boolean;
}

/** @throws SignInDenied without a verified e-mail address, with what is missing */
function requireVerifiedEmail({ email, hasUnverifiedEmail }: ProviderEmail): string {
  if (email !== null) return email;
  throw new SignInDenied(
    hasUnverifiedEmail
      ? 'The provider has not verified your e-mail address. Verify it there, and sign in again.'
      : 'The provider names no e-mail address for you. Ask its administrator to add one.',
  );
}

/**
 * @param emailDomains the domains whose users may sign in, separated by commas; empty for all domains
 * @throws SignInDenied for an e-mail address of another domain, and without a verified e-mail address
 */
export function requireAllowedDomain(claims: ProviderEmail, emailDomains: string): void {
  const domains = emailDomains.split(',').flatMap((domain) => canonicalDomain(domain.trim().replace(/^@/, '')) || []);
  if (domains.length === 0) return;
  const email = requireVerifiedEmail(claims);
  if (!domains.includes(email.slice(email.lastIndexOf('@') + 1)))
    throw new SignInDenied('E-mail addresses of your domain may not sign in here. Ask an administrator of Bunting.');
}

/** OpenID Connect Core 2: "It MUST NOT exceed 255 ASCII characters in length." */
const maxSubjectLength = 255;

/** Subjects that PostgreSQL would change could become the same one. @throws SignInDenied for one that cannot be stored as it is */
export function requireStorableSubject(subject: string): void {
  if (subject.length <= maxSubjectLength && isReadableClaimText(subject)) return;
  throw new SignInDenied(
    `The provider names a subject that is no text of at most ${maxSubjectLength} characters. Ask its administrator to correct it.`,
  );
}

/** The facts that decide on the first sign-in of a subject of a provider. */
export interface FirstSignIn extends ProviderEmail {
  /** the account with the e-mail address; it can be a service account */
  readonly account: User | undefined;
  /** whether the account is linked to another subject of the provider */
  readonly isLinked: boolean;
  readonly autoCreate: boolean;
}

/**
 * The account that a first sign-in is linked to; undefined where it creates one. An account is linked by a verified e-mail address, and only
 * while no other subject of the provider is linked to it, so that an address that is given to another person later does not open the
 * account.
 * @throws SignInDenied for a subject that gets no account
 */
export function accountToLinkOnFirstSignIn(signIn: FirstSignIn): User | undefined {
  const { account, isLinked, autoCreate } = signIn;
  requireVerifiedEmail(signIn);
  if (account?.accountType === 'Service Account' || isLinked) {
    throw new SignInDenied(
      'Your e-mail address belongs to an account of someone else. Ask an administrator of Bunting to delete that account.',
    );
  }
  if (account === undefined && !autoCreate)
    throw new SignInDenied('You have no account yet. Ask an administrator of Bunting to create one.');
  return account;
}

/** @param id of the root role that the settings name; undefined when it no longer exists @throws SignInDenied for such a role */
function requireDefaultRole(id: number | undefined): number {
  if (id === undefined) {
    throw new SignInDenied(
      'The root role that new users get does not exist any more. Ask an administrator of Bunting to choose another one.',
    );
  }
  return id;
}

/** @throws SignInDenied for a deactivated or deleted user */
export function requireActive(user: User | undefined): User {
  if (user?.active !== true)
    throw new SignInDenied('Your account is deactivated. Ask an administrator of Bunting to activate it.');
  return user;
}

/** A group of which sign-ins manage the membership of a user: the provider names it, or an earlier sign-in made the user a member. */
export interface SynchronisedGroup {
  readonly id: number;
  readonly name: string;
  /** whether the provider names it now */
  readonly isNamed: boolean;
  readonly isMember: boolean;
}

export interface SynchronisedMemberships {
  readonly added: readonly SynchronisedGroup[];
  readonly removed: readonly SynchronisedGroup[];
  /** memberships that the provider no longer names, and that stay because the last administrator would be lost */
  readonly retained: readonly SynchronisedGroup[];
  readonly events: readonly EventContent[];
}

/** Makes a user a member of the groups that the provider names, and ends the memberships of earlier sign-ins in other groups. */
export function synchronisedMemberships(userId: number, groups: readonly SynchronisedGroup[]): SynchronisedMemberships {
  const added = groups.filter(({ isNamed, isMember }) => isNamed && !isMember);
  const removed = groups.filter(({ isNamed }) => !isNamed);
  return {
    added,
    removed,
    retained: [],
    events: [
      ...added.flatMap((group) => membershipEvents(group, [userId], [])),
      ...removed.flatMap((group) => membershipEvents(group, [], [userId])),
    ],
  };
}

/** The memberships that a sign-in changes when the end of the user's earlier ones would leave no administrator: these are retained. */
export function membershipsRetainingAdministrator(
  userId: number,
  groups: readonly SynchronisedGroup[],
): SynchronisedMemberships {
  return {
    ...synchronisedMemberships(
      userId,
      groups.filter(({ isNamed }) => isNamed),
    ),
    retained: groups.filter(({ isNamed }) => !isNamed),
  };
}

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
async function linkFirstSignIn(
  { identities, users, roles }: Transaction,
  claims: OidcUserClaims,
  { autoCreate, defaultRootRole, defaultRootRoleId }: OidcSettingsWithSecret,
): Promise<User> {
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
}

/**
 * Synchronises the memberships that sign-ins manage with the groups of the provider. The user must be locked.
 * @returns the groups that the user could not be removed from
 */
export async function syncGroups(
  { groups }: Pick<Transaction, 'groups'>,
  userId: number,
  names: readonly string[],
): Promise<readonly SynchronisedGroup[]> {
  const managedGroups = await groups.listManagedBySignIns(userId, names);
  const requested = synchronisedMemberships(userId, managedGroups);
  const leavesAdministrator =
    requested.removed.length === 0 || (await groups.wouldLeaveAdministrator(userId, requested, ssoCaller.name));
  const decision = leavesAdministrator ? requested : membershipsRetainingAdministrator(userId, managedGroups);
  await groups.saveMemberships(userId, decision, ssoCaller.name, decision.events);
  return decision.retained;
}

/**
 * Signs in a user whom the provider has authenticated: finds or creates the account, synchronises groups and starts a session.
 * @throws SignInDenied with the reason, in a message for the user
 */
export async function signInWithProvider(
  tx: Transaction,
  claims: OidcUserClaims,
  settings: OidcSettingsWithSecret,
  client: SessionClient,
): Promise<SignedIn> {
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
}
