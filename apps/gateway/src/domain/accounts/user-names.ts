import { type CreateUserBody, invalidProperty } from '@bunting/contracts';

/** The names of a user or a service account. */
export interface UserNames {
  readonly name: string | null;
  readonly username: string | null;
  readonly email: string | null;
}

/** The name of a user in events. */
export const nameInEvents = ({ name, username, email }: UserNames): string => email ?? username ?? name ?? 'unknown';

/** The name of a user where users are shown: as creator and collaborator of a feature, and as owner of a project. */
export const displayNameOf = ({ name, username, email }: UserNames): string => name ?? username ?? email ?? 'unknown';

/** The name or address in a request: trimmed, and with composed characters (NFC), so that one name has one spelling. */
export const normalisedName = (text: string): string => text.trim().normalize('NFC');

/** The same for a name that can be missing; null for an empty one. */
export const optionalName = (text: string | null | undefined): string | null =>
  (text == null ? undefined : normalisedName(text)) || null;

/**
 * The names of a new user, normalised.
 * @throws Refusal 400 without a username and an e-mail address, and for a malformed address
 */
export const validUserNames = ({
  name,
  username,
  email,
}: Partial<Pick<CreateUserBody, 'name' | 'username' | 'email'>>): UserNames => {
  const names = {
    name: optionalName(name),
    username: optionalName(username),
    email: optionalName(email)?.toLowerCase() ?? null,
  };
  if (names.username === null && names.email === null)
    throw invalidProperty('You must specify username or email', '/body/username');
  requireEmailAddress(names.email);
  return names;
};

/** @throws Refusal 400 for text that is not an e-mail address */
export const requireEmailAddress = (email: string | null): void => {
  if (email === null) return;
  const at = email.lastIndexOf('@');
  if (at < 1 || at === email.length - 1 || [...email].some((character) => character <= ' '))
    throw invalidProperty('The email must be an address', '/body/email');
};
