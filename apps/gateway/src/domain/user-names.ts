import type { CreateUserBody } from '@bunting/contracts';
import type { UserNames } from './user.ts';
import { badRequest } from './refusals.ts';

const trimmed = (text: string | null | undefined): string | null => text?.trim() || null;

/**
 * What a user shall be called.
 * @throws Refusal 400 for nobody, and for an address that no mail could be sent to.
 */
export const validUserNames = ({
  name,
  username,
  email,
}: Partial<Pick<CreateUserBody, 'name' | 'username' | 'email'>>): UserNames => {
  const names = { name: trimmed(name), username: trimmed(username), email: trimmed(email)?.toLowerCase() ?? null };
  if (names.username === null && names.email === null)
    throw badRequest('You must specify username or email', '/body/username');
  requireEmailAddress(names.email);
  return names;
};

/** @throws Refusal 400 for text that is no e-mail address. */
export const requireEmailAddress = (email: string | null): void => {
  if (email === null) return;
  const at = email.lastIndexOf('@');
  if (at < 1 || at === email.length - 1 || [...email].some((character) => character <= ' '))
    throw badRequest('The email must be an address', '/body/email');
};
