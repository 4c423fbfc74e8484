import { passwordPreviouslyUsed } from '../access/refusals.ts';
import type { PasswordHasher } from '../access/passwords/password-hasher.ts';

/**
 * The hash of a new password of a user.
 * @param earlier the hashes of the passwords that may not be reused
 * @throws Refusal `PasswordPreviouslyUsedError`
 */
export const hashUnlessReused = async (
  passwords: PasswordHasher,
  password: string,
  earlier: readonly string[],
): Promise<string> => {
  for (const hash of earlier) {
    if ((await passwords.verify(password, hash)).isMatch) throw passwordPreviouslyUsed();
  }
  return passwords.hash(password);
};
