import { Registry } from 'prom-client';
import { edgeLists } from '../src/segment-lists/edge-lists.ts';

/** Lists of segments, all of which stay in memory but those that a claim gives up. */
export function listsOfTest(rootsInUse: () => Iterable<string> = () => []) {
  return edgeLists({
    maxMib: 8,
    rootsInUse,
    dropFormerLists: () => undefined,
    warn: () => undefined,
    metrics: new Registry(),
  });
}
