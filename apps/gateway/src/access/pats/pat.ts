import type { EventContent } from '@bunting/contracts';
import { type CreatePatBody, invalidProperty, type Pat, refusal } from '@bunting/contracts';
import { optionalExpiry, requireWithinLifetime } from '../tokens/token.ts';

const maxPats = 10;

function eventData({ id, description, userId, expiresAt, createdAt }: Pat) {
  return {
    id,
    description,
    userId,
    expiresAt,
    createdAt,
  };
}

export function patCreated(pat: Pat): EventContent {
  return { type: 'pat-created', data: eventData(pat) };
}

export function patDeleted(pat: Pat): EventContent {
  return { type: 'pat-deleted', preData: eventData(pat) };
}

/** What decides whether a PAT may be created. */
export interface PatContext {
  readonly pats: readonly Pick<Pat, 'description'>[];
  /** when the token of the request expires, if it belongs to the same user; null for never */
  readonly callerExpiresAt: Date | null;
  readonly now: Date;
}

/** Parses a new PAT and trims its description. @throws Refusal with Unleash's texts for a duplicate description or too many PATs */
export function parseNewPat(body: CreatePatBody, { pats, callerExpiresAt, now }: PatContext) {
  const description = body.description.trim();
  if (description === '') throw invalidProperty('The description of a token must not be empty', '/body/description');
  const expiresAt = optionalExpiry(body.expiresAt);
  if (expiresAt !== null && expiresAt <= now)
    throw invalidProperty('The expiry date should be in future', '/body/expiresAt');
  requireWithinLifetime(callerExpiresAt, expiresAt);
  if (pats.some((pat) => pat.description === description))
    throw refusal('NameExistsError', 'PAT description already exists.');
  if (pats.length >= maxPats)
    throw refusal('OperationDeniedError', `Too many PATs (${maxPats}) already exist for this user.`);
  return { description, expiresAt };
}
