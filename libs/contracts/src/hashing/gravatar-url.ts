import { hash } from 'node:crypto';

/** The Gravatar URL that Unleash derives from an e-mail address or a user name. */
export const gravatarUrlOf = (identifier: string): string =>
  `https://gravatar.com/avatar/${hash('sha256', identifier.trim().toLowerCase())}?s=42&d=retro&r=g`;
