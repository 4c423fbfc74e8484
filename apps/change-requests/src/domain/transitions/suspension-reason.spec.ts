import type { ChangeRequestPreview, ConflictCode } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aChange, aRequest } from '../../../test/builders.ts';
import { suspensionReason } from './suspension-reason.ts';

const update = aChange({ id: 1, action: 'updateStrategy', payload: { id: 'first' } });
const rename = aChange({ id: 2, action: 'updateSegment', segment: { id: 4, name: 'beta' }, payload: { id: 4 } });
const scheduled = aRequest({ state: 'Scheduled', changes: [update, rename] });
const unchanged = { before: null, after: null, diff: [] };

const previewOf = (
  feature: { conflict?: string; conflictCode?: ConflictCode },
  ofUpdate: object = {},
  ofRename: object = {},
): ChangeRequestPreview => ({
  features: [{ name: 'checkout', ...unchanged, ...feature, changes: [{ id: 1, action: update.action, ...ofUpdate }] }],
  segments: [{ id: 4, name: 'beta', ...unchanged, changes: [{ id: 2, action: rename.action, ...ofRename }] }],
  applicable: false,
});
const conflict = (conflictCode: ConflictCode) => ({ conflict: 'As features words it', conflictCode });

describe('the reason to suspend a schedule', () => {
  it.each([
    ['feature-archived', 'Feature flag checkout was archived'],
    ['feature-deleted', 'Feature flag checkout was deleted'],
    ['feature-moved', 'Feature flag checkout was moved to another project'],
    ['environment-unlinked', 'Environment production was removed from project shop'],
  ] as const)('names the feature or environment for the conflict %s', (code, reason) => {
    expect(suspensionReason(scheduled, previewOf(conflict(code)))).toBe(reason);
  });

  it('names a deleted strategy', () => {
    const preview = previewOf({}, conflict('strategy-deleted'));
    expect(suspensionReason(scheduled, preview)).toBe('Strategy first of feature flag checkout was deleted');
  });

  it('names a deleted segment', () => {
    const preview = previewOf({}, {}, conflict('segment-missing'));
    expect(suspensionReason(scheduled, preview)).toBe('Segment 4 (beta) was deleted');
  });

  it('is the text of the features service for any other conflict', () => {
    expect(suspensionReason(scheduled, previewOf(conflict('project-gone')))).toBe('As features words it');
    expect(suspensionReason(scheduled, previewOf({}, conflict('strategy-limit')))).toBe('As features words it');
  });

  it('names what was edited if applying would undo the edit', () => {
    const preview = previewOf({}, { overwrites: [{ property: 'title' }] });
    expect(suspensionReason(scheduled, preview)).toContain('would overwrite that change');
  });

  it('is absent without a conflict', () => {
    expect(suspensionReason(scheduled, previewOf({}))).toBeUndefined();
  });
});
