import { refusal } from '@bunting/contracts';
import { requireStrongPassword } from '../domain/accounts/password-policy.ts';
import { badRequest } from '../domain/refusals.ts';
import type { PasswordHasher } from './password-hasher.ts';

export interface NewPassword {
  readonly password: string;
  readonly confirmPassword?: string | undefined;
}

/** Checks a new password before anything is computed. @throws Refusal 400 for a weak one, and for a different confirmation */
export const requireValidPassword = ({ password, confirmPassword }: NewPassword): void => {
  if (confirmPassword !== undefined && confirmPassword !== password)
    throw badRequest('The passwords do not match', '/body/confirmPassword');
  requireStrongPassword(password);
};

/**
 * The hash of a new password of a user.
 * @param earlier the hashes of the passwords that may not be reused
 * @throws Refusal `PasswordPreviouslyUsedError`
 */
export const hashNewPassword = async (
  passwords: PasswordHasher,
  password: string,
  earlier: readonly string[],
): Promise<string> => {
  for (const hash of earlier) {
    if (!(await passwords.verify(password, hash)).isMatch) continue;
    throw refusal(
      'PasswordPreviouslyUsedError',
      `You've previously used this password. Please use a new password: see the \`/body/password\` property.`,
    );
  }
  return passwords.hash(password);
};
