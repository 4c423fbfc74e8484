import { notificationKinds, refusal, type Unsubscription } from '@bunting/contracts';
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Who wants no more mails of what. */
export interface Unsubscriber {
  readonly userId: number;
  readonly unsubscription: Unsubscription;
}

const known: readonly string[] = [...notificationKinds, 'daily'];

/**
 * Signs the tokens of links that end mails. They work for ever, and for what they name alone; after a change of INTEGRATIONS_SECRET_KEY, from
 * which their key is derived, those of older mails do not.
 */
export function unsubscribeLinks(secretKey: string) {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'bunting unsubscribe links', 32));
  const signatureOf = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return {
    tokenOf: ({ userId, unsubscription }: Unsubscriber): string => {
      const text = `${userId}.${unsubscription}`;
      return `${text}.${signatureOf(text).toString('base64url')}`;
    },
    /** @throws Refusal `InvalidTokenError` for a token that is not signed with the key */
    read: (token: string): Unsubscriber => {
      const [id = '', unsubscription = '', signature = ''] = token.split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = signatureOf(`${id}.${unsubscription}`);
      if (given.length !== expected.length || !timingSafeEqual(given, expected) || !known.includes(unsubscription))
        throw invalidLink();
      return { userId: Number(id), unsubscription: unsubscription as Unsubscription };
    },
  };
}
export type UnsubscribeLinks = ReturnType<typeof unsubscribeLinks>;

export function invalidLink(): Error {
  return refusal(
    'InvalidTokenError',
    'The link is not valid, or from a mail that is too old. Sign in, and choose in your profile what is mailed to you.',
  );
}
