import { systemTraceparent } from '@bunting/bus';
import { systemCaller } from '@bunting/contracts';
import type { ConfiguredTokens } from '../domain/tokens/configured-tokens.ts';
import { ensureFirstAdminOrLink, type FirstAdminOrLinkOptions } from '../access/sign-in/first-admin.ts';
import { ensureInitialTokens } from '../access/tokens/initial-tokens.ts';

interface FirstCredentialsOptions extends Pick<FirstAdminOrLinkOptions, 'transaction' | 'reads' | 'passwords'> {
  readonly tokens: ConfiguredTokens;
  readonly admin: FirstAdminOrLinkOptions['configured'];
  readonly warn: (message: string) => void;
}

/**
 * Creates the tokens and the administrator of the settings, where they are missing.
 * @returns the generated admin token, and the secret of the link that creates the first administrator; only hashes of them are stored
 */
export const ensureFirstCredentials = async (options: FirstCredentialsOptions) => {
  const { transaction, reads, passwords, tokens, admin, warn } = options;
  const context = { caller: systemCaller, now: new Date(), traceparent: systemTraceparent() };
  const adminToken = await ensureInitialTokens({ transaction, context, tokens, warn });
  const linkSecret = await ensureFirstAdminOrLink({ transaction, context, reads, passwords, configured: admin });
  return { adminToken, linkSecret };
};
