import { type ChangeAction, changeActions } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aChange, aRequest } from '../../../test/builders.ts';
import { reviewRequirement } from './review-requirement.ts';

const ofWholeProject: ReadonlySet<ChangeAction> = new Set([
  'archiveFeature',
  'addDependency',
  'deleteDependency',
  'updateSegment',
  'deleteSegment',
]);
const protection = (environment: string, requiredApprovals: number) => ({ environment, requiredApprovals });

describe.each(changeActions)('a request in production with the change %s', (action) => {
  const isWide = ofWholeProject.has(action);
  const request = aRequest({ changes: [aChange({ action })] });

  it.each([
    ['nothing', [], 1, 1],
    ['its environment', [protection('production', 2)], 2, 2],
    ['another environment', [protection('staging', 3)], 1, 3],
    ['several', [protection('production', 2), protection('qa', 4), protection('staging', 3)], 2, 4],
  ])('needs the approvals of the strictest environment that it affects, where %s is protected', (_, list, own, all) => {
    expect(reviewRequirement(request, list)).toEqual({
      minApprovals: isWide ? all : own,
      affectedEnvironments: list
        .map(({ environment }) => environment)
        .filter((name) => isWide || name === 'production'),
    });
  });
});

describe('a request', () => {
  const changes = [aChange({ action: 'updateEnabled' })];

  it('needs the higher of the numbers at its creation and of now', () => {
    const needed = (atCreation: number, now: number) =>
      reviewRequirement(aRequest({ changes, minApprovals: atCreation }), [protection('production', now)]).minApprovals;
    expect([needed(1, 3), needed(3, 1), needed(2, 2)]).toEqual([3, 3, 2]);
  });

  it('needs fewer approvals again without the change that affected other environments', () => {
    const [change] = changes;
    const list = [protection('staging', 3)];
    const wide = aRequest({ changes: [change!, aChange({ id: 2, action: 'archiveFeature' })] });
    expect(reviewRequirement(wide, list).minApprovals).toBe(3);
    expect(reviewRequirement({ ...wide, changes }, list).minApprovals).toBe(1);
  });
});
