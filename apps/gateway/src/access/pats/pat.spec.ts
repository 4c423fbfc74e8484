import { expect, it } from 'vitest';
import { parseNewPat, patCreated, type PatContext, patDeleted } from './pat.ts';

const now = new Date('2026-05-01T12:00:00.000Z');
const tomorrow = '2026-05-02T12:00:00.000Z';
const create = (description: string, context: Partial<PatContext> = {}, expiresAt: string | null = null) =>
  parseNewPat({ description, expiresAt }, { pats: [], callerExpiresAt: null, now, ...context });

it('the description of a new PAT is trimmed', () => {
  expect(create(' laptop ')).toEqual({ description: 'laptop', expiresAt: null });
});

it('a PAT without a description is refused', () => {
  expect(() => create(' ')).toThrow('The description of a token must not be empty');
});

it('a PAT that has expired already is refused', () => {
  expect(() => create('laptop', {}, now.toISOString())).toThrow('The expiry date should be in future');
});

it('a second PAT of a user with the same description is refused', () => {
  expect(() => create('laptop', { pats: [{ description: 'laptop' }] })).toThrow('PAT description already exists');
});

it('the eleventh PAT of a user is refused', () => {
  const pats = Array.from({ length: 10 }, (_, nth) => ({ description: `token ${nth}` }));
  expect(() => create('laptop', { pats })).toThrow('Too many PATs (10)');
  expect(create('laptop', { pats: pats.slice(1) }).description).toBe('laptop');
});

it('a PAT does not outlive the expiring token that creates it', () => {
  const callerExpiresAt = new Date(tomorrow);
  expect(() => create('laptop', { callerExpiresAt })).toThrow(`expires at ${tomorrow}`);
  expect(create('laptop', { callerExpiresAt }, tomorrow).expiresAt).toEqual(callerExpiresAt);
});

it('the events of a PAT have no secret', () => {
  const data = { id: 3, description: 'laptop', userId: 7, expiresAt: null, createdAt: '2026-05-01T12:00:00.000Z' };
  const pat = { ...data, seenAt: null, secret: 'user:secret' };
  expect(patCreated(pat)).toEqual({ type: 'pat-created', data });
  expect(patDeleted(pat)).toEqual({ type: 'pat-deleted', preData: data });
});
