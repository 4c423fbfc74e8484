import type { CreatedPat, CreatePatBody } from '@bunting/contracts';
import { parseNewPat, patCreated } from './pat.ts';
import { newPatSecret } from '../../unit-of-work/secrets.ts';
import type { Transaction, GatewayWriteContext, ReplyWithSecret } from '../../unit-of-work/unit-of-work.ts';

/** Creates a PAT for a user whose row is locked. */
export const addPat = async (
  { tokens, generateSecretBytes }: Transaction,
  { caller, now }: GatewayWriteContext,
  userId: number,
  body: CreatePatBody,
): Promise<ReplyWithSecret<CreatedPat>> => {
  const pats = await tokens.listPats(userId);
  const callerExpiresAt = userId === caller.id ? await tokens.expiryOf(caller.tokenId) : null;
  const { description, expiresAt } = parseNewPat(body, { pats, callerExpiresAt, now });
  const generated = newPatSecret(generateSecretBytes);
  const newPat = { userId, description, expiresAt };
  const pat = await tokens.addPat(newPat, generated, caller.id, (created) => [patCreated(created)]);
  return { reply: { ...pat, secret: generated.masked }, secret: generated.secret };
};
