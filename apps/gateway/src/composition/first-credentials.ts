import type { OutboxProducer } from '@bunting/outbox';
import type { ConfiguredTokens } from '../domain/tokens/configured-tokens.ts';
import { ensureFirstAdmin, type FirstAdminOptions } from '../passwords/first-admin.ts';
import type { PasswordHasher } from '../passwords/password-hasher.ts';
import { ensureInitialTokens, type TokenProtection } from '../persistence/tokens/initial-tokens.ts';

interface FirstCredentialsOptions {
  readonly work: OutboxProducer['work'];
  readonly protection: TokenProtection;
  readonly passwords: PasswordHasher;
  readonly tokens: ConfiguredTokens;
  readonly admin: FirstAdminOptions['configured'];
  readonly warn: (message: string) => void;
}

/**
 * Creates the tokens and the administrator of the settings, where they are missing.
 * @returns the generated admin token, and the secret of the link that creates the first administrator; neither is stored
 */
export const ensureFirstCredentials = async (options: FirstCredentialsOptions) => {
  const { work, protection, passwords, tokens, admin, warn } = options;
  const adminToken = await ensureInitialTokens(work, protection, tokens, warn);
  // With an admin token in the settings, that token creates the first users.
  const givesToken = tokens.adminToken !== undefined || tokens.initial.some(({ kind }) => kind === 'admin');
  const { hasher } = protection;
  const linkSecret = await ensureFirstAdmin({ work, hasher, passwords, configured: admin, wantsLink: !givesToken });
  return { adminToken, linkSecret };
};
