import { type CreatedPat, type CreatePatBody, type Pat, refusal } from '@bunting/contracts';
import { futureExpiry } from '../../domain/api-token.ts';
import { badRequest } from '../../domain/refusals.ts';
import { requireWithinLifetime } from '../api-tokens/require-within-lifetime.ts';
import { newUserSecret } from '../../persistence/tokens/token-secret.ts';
import type { GatewayWriteContext, ReplyWithSecret, GatewayTransaction } from '../../persistence/unit-of-work.ts';

/** Maximum number of PATs of a user. */
const maxPats = 10;

/** The data of a PAT in events. */
export const patEventData = ({ id, description, userId, expiresAt, createdAt }: Pat) => ({
  id,
  description,
  userId,
  expiresAt,
  createdAt,
});

/** Creates a PAT for a user whose row is locked. @throws Refusal with Unleash's texts for a duplicate description or too many PATs */
export const addPat = async (
  { tokens, emit, secretBytes }: GatewayTransaction,
  { caller, now }: GatewayWriteContext,
  userId: number,
  body: CreatePatBody,
): Promise<ReplyWithSecret<CreatedPat>> => {
  const description = body.description.trim();
  if (description === '') throw badRequest('The description of a token must not be empty', '/body/description');
  const expiresAt = futureExpiry(body.expiresAt, now);
  if (userId === caller.id) await requireWithinLifetime({ tokens }, caller, expiresAt);
  const pats = await tokens.listPats(userId);
  if (pats.some((pat) => pat.description === description))
    throw refusal('NameExistsError', 'PAT description already exists.');
  if (pats.length >= maxPats) {
    throw refusal('OperationDeniedError', `Too many PATs (${maxPats}) already exist for this user.`);
  }
  const made = newUserSecret(secretBytes);
  const pat = await tokens.addPat({ userId, description, expiresAt }, made, caller.id);
  emit({ type: 'pat-created', data: patEventData(pat) });
  return { reply: { ...pat, secret: made.masked }, secret: made.secret };
};
