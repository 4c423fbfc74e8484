import { createHash } from 'node:crypto';

/** The address of a person's picture, made from an e-mail or a name as Unleash makes it (admin-api.md 0.5). */
export const imageUrlOf = (ident: string): string =>
  `https://gravatar.com/avatar/${createHash('sha256').update(ident.trim().toLowerCase()).digest('hex')}?s=42&d=retro&r=g`;
