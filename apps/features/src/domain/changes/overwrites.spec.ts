import { parseChanges } from '@bunting/contracts/validation';
import { expect, it } from '@jest/globals';
import { aChangeContext, inProduction, onCheckout, type Posted } from '../../../test/checked-changes.ts';
import { currentSnapshot, overwriteConflicts } from './overwrites.ts';

const proposedIn = aChangeContext();
const conflictsOf = (posted: Posted, context = proposedIn) =>
  overwriteConflicts(
    parseChanges([posted]).map((change) => ({ id: 7, change, snapshot: currentSnapshot(change, proposedIn) })),
    context,
  );

const variants = [{ name: 'blue', weight: 1000, weightType: 'variable' as const, stickiness: 'default' }];
const { strategies = [] } = inProduction().environments['production'] ?? {};
const edited = aChangeContext([
  inProduction({
    environments: {
      production: { enabled: false, strategies: strategies.map((one) => ({ ...one, title: 'Edited' })), variants },
    },
  }),
]);

it('a change that replaces the state in which it was proposed overwrites nothing', () => {
  expect(conflictsOf(onCheckout('updateStrategy', { id: 's1', title: 'Ours' }))).toEqual([]);
});

it.each<[string, Posted, string]>([
  [
    'a strategy',
    onCheckout('updateStrategy', { id: 's1', title: 'Ours' }),
    'Strategy s1 of feature flag checkout was changed; applying would overwrite that change',
  ],
  [
    'the variants in an environment',
    onCheckout('patchVariant', { variants: [] }),
    'Environment variants of feature flag checkout in production were changed; applying would overwrite that change',
  ],
])('a conflict names what was changed since: %s', (_, posted, message) => {
  expect(conflictsOf(posted, edited)).toEqual([{ code: 'overwrite', message, feature: 'checkout', changeId: 7 }]);
});

it('a conflict names the segment that was changed since, by id and name', () => {
  const segments = new Map([...proposedIn.segments].map(([id, segment]) => [id, { ...segment, description: 'new' }]));
  const posted = { action: 'updateSegment', payload: { id: 4, description: 'ours' } };
  expect(conflictsOf(posted, aChangeContext([], { segments }))).toEqual([
    {
      code: 'overwrite',
      message: 'Segment 4 (beta) was changed; applying would overwrite that change',
      segment: 4,
      changeId: 7,
    },
  ]);
});
