import { expect, it } from 'vitest';
import type { Change } from '@bunting/contracts';
import { featureNamesOf, segmentIdsOf } from './change-context.ts';

const changes: Change[] = [
  { action: 'updateEnabled', feature: 'cart', payload: { enabled: true } },
  { action: 'addDependency', feature: 'cart', payload: { feature: 'checkout' } },
  { action: 'archiveFeature', feature: 'search', payload: {} },
  { action: 'updateSegment', payload: { id: 4, name: 'beta' } },
  { action: 'deleteSegment', payload: { id: 4 } },
];

it('changes edit the features and segments that they name, and not those that they refer to, each once', () => {
  expect(featureNamesOf(changes)).toEqual(['cart', 'search']);
  expect(segmentIdsOf(changes)).toEqual([4]);
});
