import { type CreateUserBody, invalidProperty } from '@bunting/contracts';

/** The names of a user or a service account. */
export interface UserNames {
  readonly name: string | null;
  readonly username: string | null;
  readonly email: string | null;
}

/** The name of a user in events. */
export const nameInEvents = ({ name, username, email }: UserNames): string => email ?? username ?? name ?? 'unknown';

/** The name of a user as a creator and collaborator of a feature, and as an owner of a project. */
export const displayNameOf = ({ name, username, email }: UserNames): string => name ?? username ?? email ?? 'unknown';

/** The user name of a user as an author in a change request: an e-mail address only if the user has nothing else. */
export const authorNameOf = ({ name, username, email }: UserNames): string => username ?? name ?? email ?? 'unknown';

/** A name or e-mail address of a request, trimmed and with composed characters (NFC), so that one name has one spelling. */
export const normalisedName = (text: string): string => text.trim().normalize('NFC');

/** The normalised name; null for a missing or empty one. */
export const optionalName = (text: string | null | undefined): string | null =>
  (text == null ? undefined : normalisedName(text)) || null;

/** The normalised e-mail address in lower case, so that one address has one spelling; null for a missing or empty one. */
export const optionalEmail = (text: string | null | undefined): string | null =>
  optionalName(text)?.toLowerCase() ?? null;

/** Why names are not accepted. The input of a caller may call the field differently. */
export interface NamesFault {
  readonly reason: string;
  readonly field: 'username' | 'email';
}

const isEmailAddress = (email: string): boolean => {
  const at = email.lastIndexOf('@');
  return at >= 1 && at < email.length - 1 && [...email].every((character) => character > ' ');
};

/** What is wrong with the names of an account, which needs a username or an e-mail address; undefined for valid ones. */
export const namesFault = ({ username, email }: Pick<UserNames, 'username' | 'email'>): NamesFault | undefined => {
  if (username === null && email === null) return { reason: 'You must specify username or email', field: 'username' };
  if (email !== null && !isEmailAddress(email)) return { reason: 'The email must be an address', field: 'email' };
  return undefined;
};

/**
 * The names of a new account in a body, normalised.
 * @throws Refusal 400 without a username and an e-mail address, and for a malformed address
 */
export const parseUserNames = ({
  name,
  username,
  email,
}: Partial<Pick<CreateUserBody, 'name' | 'username' | 'email'>>): UserNames => {
  const names = { name: optionalName(name), username: optionalName(username), email: optionalEmail(email) };
  const fault = namesFault(names);
  if (fault !== undefined) throw invalidProperty(fault.reason, `/body/${fault.field}`);
  return names;
};
