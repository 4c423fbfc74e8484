import { type ApiToken, limitExceeded } from '@bunting/contracts';
import { maxApiTokens, type NewToken, namedProjects } from './token.ts';
import { tokenEvent } from '../../domain/tokens/token-event.ts';
import { newTokenSecret } from '../../unit-of-work/secrets.ts';
import type { ReplyWithSecret, Transaction } from '../../unit-of-work/unit-of-work.ts';
import { toApiToken } from '../../operations/api-tokens/token-response.ts';

/** Creates a token. The reply is the only response that contains its secret, unless secrets are stored readable. */
export const addToken = async (
  { tokens, generateSecretBytes, lockExistingProjects }: Transaction,
  token: NewToken,
  createdBy: number,
): Promise<ReplyWithSecret<ApiToken>> => {
  await lockExistingProjects(namedProjects(token));
  if ((await tokens.countForUpdate()) >= maxApiTokens) throw limitExceeded('api token', maxApiTokens);
  const generated = newTokenSecret(token.projects, token.environment, generateSecretBytes);
  const stored = await tokens.add(token, generated, createdBy, (added) => [
    tokenEvent('api-token-created', { data: added }),
  ]);
  const { expiresAt, seenAt: _seenAt, ...created } = toApiToken(stored);
  return { reply: expiresAt === null ? created : { ...created, expiresAt }, secret: generated.secret };
};
