import type { User } from '@bunting/contracts';
import { canonicalDomain } from '../../access/users/account.ts';
import { isReadableClaimText } from './readable-claim-text.ts';

/** A refused sign-in of a user whom the provider has authenticated. The message is for that user. */
export class SignInDenied extends Error {}

/** The e-mail address of a user, as the provider states it. */
export interface ProviderEmail {
  /** only if the provider has verified it */
  readonly email: string | null;
  readonly hasUnverifiedEmail: boolean;
}

/** @throws SignInDenied without a verified e-mail address, with what is missing */
const requireVerifiedEmail = ({ email, hasUnverifiedEmail }: ProviderEmail): string => {
  if (email !== null) return email;
  throw new SignInDenied(
    hasUnverifiedEmail
      ? 'The provider has not verified your e-mail address. Verify it there, and sign in again.'
      : 'The provider names no e-mail address for you. Ask its administrator to add one.',
  );
};

/**
 * @param emailDomains the domains whose users may sign in, separated by commas; empty for all domains
 * @throws SignInDenied for an e-mail address of another domain, and without a verified e-mail address
 */
export const requireAllowedDomain = (claims: ProviderEmail, emailDomains: string): void => {
  const domains = emailDomains.split(',').flatMap((domain) => canonicalDomain(domain.trim().replace(/^@/, '')) || []);
  if (domains.length === 0) return;
  const email = requireVerifiedEmail(claims);
  if (!domains.includes(email.slice(email.lastIndexOf('@') + 1)))
    throw new SignInDenied('E-mail addresses of your domain may not sign in here. Ask an administrator of Bunting.');
};

/** OpenID Connect Core 2: "It MUST NOT exceed 255 ASCII characters in length." */
const maxSubjectLength = 255;

/** Subjects that PostgreSQL would change could become the same one. @throws SignInDenied for one that cannot be stored as it is */
export const requireStorableSubject = (subject: string): void => {
  if (subject.length <= maxSubjectLength && isReadableClaimText(subject)) return;
  throw new SignInDenied(
    `The provider names a subject that is no text of at most ${maxSubjectLength} characters. Ask its administrator to correct it.`,
  );
};

/** The facts that decide on the first sign-in of a subject of a provider. */
export interface FirstSignIn extends ProviderEmail {
  /** the account with the e-mail address; it can be a service account */
  readonly account: User | undefined;
  /** whether the account is linked to another subject of the provider */
  readonly isLinked: boolean;
  /** whether sign-ins create accounts */
  readonly autoCreate: boolean;
}

/**
 * The account that a first sign-in is linked to; undefined where it creates one. An account is linked by a verified e-mail address, and only
 * while no other subject of the provider is linked to it, so that an address that is given to another person later does not open the
 * account.
 * @throws SignInDenied for a subject that gets no account
 */
export const accountToLinkOnFirstSignIn = (signIn: FirstSignIn): User | undefined => {
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
};

/** @param id of the root role that the settings name; undefined when it no longer exists @throws SignInDenied for such a role */
export const requireDefaultRole = (id: number | undefined): number => {
  if (id === undefined) {
    throw new SignInDenied(
      'The root role that new users get does not exist any more. Ask an administrator of Bunting to choose another one.',
    );
  }
  return id;
};

/** @throws SignInDenied for a deactivated or deleted user */
export const requireActive = (user: User | undefined): User => {
  if (user?.active !== true)
    throw new SignInDenied('Your account is deactivated. Ask an administrator of Bunting to activate it.');
  return user;
};
