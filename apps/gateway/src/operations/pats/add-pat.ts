import { type CreatedPat, type CreatePatBody, type Pat, refusal } from '@bunting/contracts';
import { futureExpiry } from '../../domain/api-token.ts';
import { wrong } from '../../domain/refusals.ts';
import { requireWithinLifetime } from '../api-tokens/require-within-lifetime.ts';
import { newUserSecret } from '../../persistence/tokens/token-secret.ts';
import type { Occasion, WithSecret, Work } from '../../persistence/unit-of-work.ts';

/** How many keys a user can have. */
const most = 10;

/** What events tell of a key. */
export const toldPat = ({ id, description, userId, expiresAt, createdAt }: Pat) => ({
  id,
  description,
  userId,
  expiresAt,
  createdAt,
});

/** Makes a key for somebody, whose row is locked. @throws Refusal with Unleash's words (admin-api.md 6.18). */
export const newPat = async (
  { tokens, tell, secretBytes }: Work,
  { caller, now }: Occasion,
  userId: number,
  body: CreatePatBody,
): Promise<WithSecret<CreatedPat>> => {
  const description = body.description.trim();
  if (description === '') throw wrong('The description of a token must not be empty', '/body/description');
  const expiresAt = futureExpiry(body.expiresAt, now);
  if (userId === caller.id) await requireWithinLifetime({ tokens }, caller, expiresAt);
  const pats = await tokens.pats(userId);
  if (pats.some((pat) => pat.description === description))
    throw refusal('NameExistsError', 'PAT description already exists.');
  if (pats.length >= most) {
    throw refusal('OperationDeniedError', `Too many PATs (${most}) already exist for this user.`);
  }
  const made = newUserSecret(secretBytes);
  const pat = await tokens.addPat({ userId, description, expiresAt }, made, caller.id);
  tell({ type: 'pat-created', data: toldPat(pat) });
  return { reply: { ...pat, secret: made.shown }, secret: made.secret };
};
