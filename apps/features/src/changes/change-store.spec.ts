import type { AppliedChanges } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { resultOfEarlierAttempt, type EarlierAttempt } from './change-store.ts';

const applied = { outcome: 'applied', conflicts: [], inverse: [] } as unknown as AppliedChanges;
const refused: AppliedChanges = { outcome: 'conflict', conflicts: [{ code: 'overwrite', message: '' }], inverse: [] };
const attempt = { uid: 'one', attempt: 2, content: 'same' };
const stored = (about: Partial<EarlierAttempt>): EarlierAttempt => ({ ...attempt, result: applied, ...about });

it.each<[string, Partial<EarlierAttempt>]>([
  ['the first attempt', { result: null }],
  ['the request of another uid with the same id', { uid: 'other' }],
  ['a request without a uid, where one with a uid was applied', { uid: null }],
  ['a newer attempt after a conflict', { attempt: 1, result: refused }],
  ['other changes in the same attempt', { content: 'other' }],
  ['other changes in a newer attempt', { attempt: 1, content: 'other' }],
])('applies the changes of %s', (_, about) => {
  expect(resultOfEarlierAttempt(attempt, stored(about))).toBeUndefined();
});

it.each<[string, Partial<EarlierAttempt>, AppliedChanges]>([
  ['that were applied in an earlier attempt', { attempt: 1 }, applied],
  ['that were applied in a newer attempt', { attempt: 3 }, applied],
  ['that were applied before contents were stored', { content: null }, applied],
  ['that conflicted in the same attempt', { result: refused }, refused],
])('returns the stored result of changes %s', (_, about, result) => {
  expect(resultOfEarlierAttempt(attempt, stored(about))).toBe(result);
});

it.each<[string, Partial<EarlierAttempt>]>([
  ['conflicted', { attempt: 3, result: refused }],
  ['applied other changes', { attempt: 3, content: 'other' }],
])('refuses an attempt after a newer one has %s', (_, about) => {
  expect(resultOfEarlierAttempt(attempt, stored(about))).toMatchObject({ conflicts: [{ code: 'superseded' }] });
});
