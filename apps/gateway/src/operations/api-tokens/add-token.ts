import type { ApiToken } from '@bunting/contracts';
import { mostApiTokens, type NewToken, projectsOf } from '../../domain/api-token.ts';
import { tooMany } from '../../domain/refusals.ts';
import { newTokenSecret } from '../../persistence/tokens/token-secret.ts';
import type { WithSecret, Work } from '../../persistence/unit-of-work.ts';
import { answered, tokenEvent } from './token-event.ts';

/** Makes a token, and gives its secret: this once. */
export const makeToken = async (
  { tokens, tell, secretBytes, requireStanding }: Work,
  token: NewToken,
  createdBy: number,
): Promise<WithSecret<ApiToken>> => {
  await requireStanding(projectsOf(token));
  if ((await tokens.count()) >= mostApiTokens) throw tooMany('api token', mostApiTokens);
  const made = newTokenSecret(token.projects, token.environment, secretBytes);
  const stored = answered(await tokens.add(token, made, createdBy));
  tell(tokenEvent('api-token-created', { data: stored }));
  const { expiresAt, seenAt: _seenAt, ...fresh } = stored;
  return { reply: expiresAt === null ? fresh : { ...fresh, expiresAt }, secret: made.secret };
};
