import type { User } from '@bunting/contracts';
import type { Mailer } from '../mail/mailer.ts';
import type { Transaction } from '../persistence/unit-of-work.ts';
import type { NewSecret } from '../persistence/tokens/token-secret.ts';

/** Hours for which a link to choose another password works. */
const resetHours = 24;
/** Hours for which a new user can choose a first password. */
const welcomeHours = 7 * 24;

/** Creates the link by which a user chooses a password. */
export const createPasswordLink = (
  { links, secretBytes }: Pick<Transaction, 'links' | 'secretBytes'>,
  userId: number,
  { isNew, createdBy }: { readonly isNew: boolean; readonly createdBy: string | null },
): Promise<NewSecret> => {
  const hours = isNew ? welcomeHours : resetHours;
  return links.create({ purpose: 'set-password', userId, createdBy, hours }, secretBytes);
};

/** The path of the page on which a link is used, as in Unleash. */
export const passwordPagePath = (secret: string, isNew: boolean): string =>
  `/${isNew ? 'new-user' : 'reset-password'}?token=${secret}`;

/** Sends a link by mail. @returns whether it was sent; false without a mail server or an address */
export const mailPasswordLink = async (
  mailer: Mailer | undefined,
  { email }: Pick<User, 'email'>,
  url: string,
  isNew: boolean,
): Promise<boolean> => {
  if (mailer === undefined || email === undefined) return false;
  const [subject, reason, hours] = isNew
    ? ['Welcome to Bunting', 'An account was created for you. Choose your password here', welcomeHours]
    : [
        'Choose a new password for Bunting',
        'A new password was requested for your account. Choose it here',
        resetHours,
      ];
  const text = `${reason}:\n\n${url}\n\nThe link works once and for ${hours} hours. If you did not expect this mail, ignore it.\n`;
  return mailer.send({ to: email, subject, text });
};
