import type { ConflictCode } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { conflictsInPreview, conflictRefusal } from './conflicts-in-preview.ts';

const conflict = (conflictCode: ConflictCode, text: string) => ({ conflictCode, conflict: text });
const action = 'updateStrategy';
const states = { before: null, after: null, diff: [] };
const preview = {
  features: [
    { name: 'checkout', ...states, ...conflict('feature-archived', 'Archived'), changes: [{ id: 1, action }] },
    {
      name: 'banner',
      ...states,
      changes: [
        { id: 2, action, ...conflict('strategy-deleted', 'Strategy is gone') },
        { id: 3, action },
      ],
    },
  ],
  segments: [
    {
      id: 4,
      name: 'beta',
      ...states,
      changes: [{ id: 5, action: 'deleteSegment', ...conflict('segment-in-use', 'Segment beta is in use') }],
    },
  ],
  applicable: false,
};

describe('the conflicts of applying', () => {
  it('name the feature or segment, and the change if it is one', () => {
    expect(conflictsInPreview(preview)).toEqual([
      { code: 'feature-archived', message: 'Archived', feature: 'checkout' },
      { code: 'strategy-deleted', message: 'Strategy is gone', feature: 'banner', changeId: 2 },
      { code: 'segment-in-use', message: 'Segment beta is in use', segment: 4, changeId: 5 },
    ]);
  });

  it('are all details of the refusal, whose message is the first', () => {
    const conflicts = conflictsInPreview(preview);
    expect(conflictRefusal(conflicts)).toMatchObject({
      kind: 'ConflictError',
      message: 'Archived',
      details: conflicts,
    });
  });
});
