import { timingSafeEqual } from 'node:crypto';
import type { SecretHasher } from '../secrets/secret-hasher.ts';

const idDigits = 32;
const secretForm = /^[0-9a-f]{96}$/;
const uuidOf = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The secrets of invitation links. Lists show them, so they are derived from the token key and never stored. */
export const inviteLinkSecrets = (hasher: SecretHasher) => {
  const secretOf = (id: string): string =>
    `${id.replaceAll('-', '')}${hasher(`invite link ${id}`).hash.toString('hex')}`;
  return {
    /** The secret of the link with an id. */
    secretOf,
    /** The id in a secret; undefined for a text that is no secret of a link. */
    idOf: (secret: string): string | undefined => {
      if (!secretForm.test(secret)) return undefined;
      const id = uuidOf(secret.slice(0, idDigits));
      return timingSafeEqual(Buffer.from(secret), Buffer.from(secretOf(id))) ? id : undefined;
    },
  };
};
export type InviteLinkSecrets = ReturnType<typeof inviteLinkSecrets>;
