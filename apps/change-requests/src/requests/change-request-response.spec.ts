import { ChangeRequest } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { matchesSchema } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { aChange, anApprovalBy, aRequest, kim, lee, mia, noon } from '../../test/builders.ts';
import { toChangeRequestResponse } from './change-request-response.ts';

const shownMia = { id: 7, username: mia.name, imageUrl: gravatarUrlOf(mia.name) };

describe('the response for a change request', () => {
  it('has every property that the interface promises', () => {
    const request = aRequest({
      state: 'In review',
      title: 'Open the checkout',
      changes: [aChange({ id: 5, action: 'updateEnabled', payload: { enabled: true } })],
      approvals: [anApprovalBy(lee)],
      rejections: [anApprovalBy(kim)],
      comments: [{ id: 2, text: 'Fine', createdBy: lee, createdAt: noon, change: null }],
    });
    const shown = toChangeRequestResponse(request);
    expect(shown).toEqual({
      id: 31,
      title: 'Open the checkout',
      environment: 'production',
      minApprovals: 1,
      project: 'shop',
      features: [
        {
          name: 'checkout',
          changes: [
            { id: 5, action: 'updateEnabled', payload: { enabled: true }, createdBy: shownMia, createdAt: noon },
          ],
        },
      ],
      segments: [],
      approvals: [{ createdBy: { id: 8, username: 'lee', imageUrl: gravatarUrlOf('lee') }, createdAt: noon }],
      rejections: [{ createdBy: { id: 9, username: 'kim', imageUrl: gravatarUrlOf('kim') }, createdAt: noon }],
      comments: [
        { id: 2, text: 'Fine', createdBy: { id: 8, username: 'lee', imageUrl: gravatarUrlOf('lee') }, createdAt: noon },
      ],
      createdBy: shownMia,
      createdAt: noon,
      state: 'In review',
      stateTimestamps: { Draft: noon },
      revision: 3,
    });
    expect(matchesSchema(ChangeRequest, shown)).toBe(true);
  });

  it('has a title made of its id until it gets a title', () => {
    expect(toChangeRequestResponse(aRequest()).title).toBe('Change request #31');
  });

  it('lists each feature once, in the order of their first change', () => {
    const { features } = toChangeRequestResponse(
      aRequest({
        changes: [
          aChange({ id: 1, action: 'addStrategy', feature: 'zebra' }),
          aChange({ id: 2, action: 'addStrategy', feature: 'ant' }),
          aChange({ id: 3, action: 'addStrategy', feature: 'zebra' }),
        ],
      }),
    );
    expect(features).toMatchObject([
      { name: 'zebra', changes: [{ id: 1 }, { id: 3 }] },
      { name: 'ant', changes: [{ id: 2 }] },
    ]);
  });

  it('lists each segment once, by its id and newest name, and not as a feature', () => {
    const { features, segments } = toChangeRequestResponse(
      aRequest({
        changes: [
          aChange({ id: 1, action: 'deleteSegment', segment: { id: 9, name: 'z' }, payload: { id: 9 } }),
          aChange({ id: 2, action: 'updateSegment', segment: { id: 4, name: 'beta' }, payload: { id: 4, name: 'x' } }),
          aChange({ id: 3, action: 'updateSegment', segment: { id: 9, name: 'zz' }, payload: { id: 9 } }),
        ],
      }),
    );
    expect(features).toEqual([]);
    expect(segments).toMatchObject([
      { id: 9, name: 'zz', changes: [{ id: 1 }, { id: 3 }] },
      { id: 4, name: 'beta', changes: [{ id: 2 }] },
    ]);
  });

  it.each([
    ['In review', 'beta'],
    ['Applied', 'gamma'],
  ] as const)('that is %s names a segment that it renames %s', (state, name) => {
    const payload = { id: 4, name: 'gamma' };
    const rename = aChange({ action: 'updateSegment', segment: { id: 4, name: 'beta' }, payload });
    expect(toChangeRequestResponse(aRequest({ state, changes: [rename] })).segments).toMatchObject([{ id: 4, name }]);
  });

  it.each(['updateStrategy', 'deleteStrategy', 'patchVariant', 'updateSegment', 'deleteSegment'] as const)(
    'contains the replaced values within the payload of %s',
    (action) => {
      const segment = action.endsWith('Segment') ? { segment: { id: 4, name: 'beta' } } : {};
      const change = aChange({ action, ...segment, payload: { id: 's1' }, snapshot: { id: 's1', title: 'was' } });
      const { features, segments } = toChangeRequestResponse(aRequest({ changes: [change] }));
      expect([...features, ...segments][0]?.changes[0]?.payload).toEqual({
        id: 's1',
        snapshot: { id: 's1', title: 'was' },
      });
    },
  );

  it.each([
    ['reorderStrategy', [{ id: 's1', sortOrder: 1 }]],
    ['updateEnabled', { enabled: true }],
    ['archiveFeature', {}],
  ] as const)('leaves the payload of %s as it was posted', (action, payload) => {
    const change = aChange({ action, payload, snapshot: [{ id: 's1', sortOrder: 0 }] });
    expect(toChangeRequestResponse(aRequest({ changes: [change] })).features[0]?.changes[0]?.payload).toEqual(payload);
  });

  it('shows a deleted user without name and picture', () => {
    const shown = toChangeRequestResponse(aRequest({ createdBy: { id: 7, name: null } }));
    expect(shown.createdBy).toEqual({ id: 7, username: null, imageUrl: null });
    expect(matchesSchema(ChangeRequest, shown)).toBe(true);
  });
});
