import { advisoryLock, type Tx } from '@bunting/database';
import { endPasswordLinks } from '../passwords/one-time-link-store.ts';

export function oidcIdentityRepository({ query }: Pick<Tx, 'query'>) {
  return {
    /** Serialises the sign-ins of one subject until the transaction ends. @returns its user; undefined for one that is not linked */
    findForUpdate: async (issuer: string, subject: string): Promise<number | undefined> => {
      await advisoryLock({ query }, `identity ${JSON.stringify([issuer, subject])}`);
      const text = 'select user_id as "userId" from user_identity where issuer = $1 and subject = $2';
      return (await query<{ userId: number }>(text, [issuer, subject]))[0]?.userId;
    },
    isLinked: async (userId: number, issuer: string): Promise<boolean> =>
      (await query('select from user_identity where user_id = $1 and issuer = $2', [userId, issuer])).length > 0,
    /** Links a user to a subject, and ends the links to choose a password: the user has another way to sign in. */
    link: async (userId: number, issuer: string, subject: string): Promise<void> => {
      await endPasswordLinks({ query }, userId);
      await query('insert into user_identity (user_id, issuer, subject) values ($1, $2, $3)', [
        userId,
        issuer,
        subject,
      ]);
    },
  };
}
