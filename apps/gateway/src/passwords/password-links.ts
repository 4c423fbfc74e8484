import type { User } from '@bunting/contracts';
import type { Mailer } from '../access/passwords/password-links.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import type { NewSecret } from '../unit-of-work/secrets.ts';

/**
 * Whether a link sets the first password of a new user, or a new one for a user who has forgotten it. The kind is also the path of the page
 * of the link, as in Unleash.
 */
export type PasswordLinkKind = 'new-user' | 'reset-password';

const passwordLinkKinds: Readonly<
  Record<PasswordLinkKind, { readonly hours: number; readonly subject: string; readonly reason: string }>
> = {
  'new-user': {
    hours: 7 * 24,
    subject: 'Welcome to Bunting',
    reason: 'An account was created for you. Choose your password here',
  },
  'reset-password': {
    hours: 24,
    subject: 'Choose a new password for Bunting',
    reason: 'A new password was requested for your account. Choose it here',
  },
};

/** Creates the link by which a user chooses a password. */
export const createPasswordLink = (
  { links, generateSecretBytes }: Pick<Transaction, 'links' | 'generateSecretBytes'>,
  userId: number,
  { kind, createdBy }: { readonly kind: PasswordLinkKind; readonly createdBy: string | null },
): Promise<NewSecret> =>
  links.create(
    { purpose: 'set-password', userId, createdBy, hours: passwordLinkKinds[kind].hours },
    generateSecretBytes,
  );

/** The path of the page on which a link is used. */
export const passwordPagePath = (secret: string, kind: PasswordLinkKind): string => `/${kind}?token=${secret}`;

/** Sends a link by mail. @returns whether it was sent; false without a mail server or an e-mail address */
export const mailPasswordLink = async (
  mailer: Mailer | undefined,
  { email }: Pick<User, 'email'>,
  url: string,
  kind: PasswordLinkKind,
): Promise<boolean> => {
  if (mailer === undefined || email === undefined) return false;
  const { hours, subject, reason } = passwordLinkKinds[kind];
  const text = `${reason}:\n\n${url}\n\nThe link works once and for ${hours} hours. If you did not expect this mail, ignore it.\n`;
  return mailer.send({ to: email, subject, text });
};
