import { invalidProperty, refusal } from '@bunting/contracts';

const minLength = 10;
/** From this length on a password need not mix kinds of characters. */
const passphraseLength = 20;

const characterKinds: readonly (readonly [RegExp, string])[] = [
  [/\p{Ll}/u, 'The password must contain at least one lowercase letter.'],
  [/\p{Lu}/u, 'The password must contain at least one uppercase letter.'],
  [/\p{Nd}/u, 'The password must contain at least one number.'],
  [/[^\p{L}\p{Nd}]/u, 'The password must contain at least one special character.'],
];

/** The rules that a password breaks, in the words of Unleash, which its user interface recognises. */
export function passwordFaults(text: string): string[] {
  const password = text.normalize('NFC');
  const length = [...password].length;
  return [
    ...(length < minLength ? [`The password must be at least ${minLength} characters long.`] : []),
    ...(/(.)\1{2}/u.test(password)
      ? ['The password may not contain sequences of three or more repeated characters.']
      : []),
    ...(length < passphraseLength
      ? characterKinds.filter(([kind]) => !kind.test(password)).map(([, message]) => message)
      : []),
  ];
}

/** @throws Refusal `OwaspValidationError` with each rule that the password breaks */
export function requireStrongPassword(password: string): void {
  const faults = passwordFaults(password);
  const [message] = faults;
  if (message === undefined) return;
  throw refusal('OwaspValidationError', message, {
    details: [{ message, path: '/body/password', validationErrors: faults }],
  });
}

export interface NewPassword {
  readonly password: string;
  readonly confirmPassword?: string | undefined;
}

/** @throws Refusal 400 for a weak password, and for a different confirmation */
export function requireValidPassword({ password, confirmPassword }: NewPassword): void {
  if (confirmPassword !== undefined && confirmPassword !== password)
    throw invalidProperty('The passwords do not match', '/body/confirmPassword');
  requireStrongPassword(password);
}
