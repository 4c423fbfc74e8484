import type { EdgeInstance } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { withCurrentRevisions } from './current-revisions.ts';

function edge(environments: readonly string[], connectedEdges: readonly EdgeInstance[] = []): EdgeInstance {
  return {
    identifier: 'edge',
    appName: 'edge',
    edgeVersion: '1',
    reportedAt: '2026-11-28T20:00:00.000Z',
    edgeApiKeyRevisionIds: environments.map((environment) => ({ environment, projects: ['*'], revisionId: 3 })),
    connectedEdges,
  };
}

it('says beside each revision of an edge, and of those behind it, which one the server has', () => {
  const [listed] = withCurrentRevisions([edge(['production'], [edge(['development', 'gone'])])], ({ environment }) =>
    environment === 'gone' ? undefined : environment.length,
  );
  expect(listed?.edgeApiKeyRevisionIds).toMatchObject([{ revisionId: 3, currentRevisionId: 10 }]);
  const [behind] = listed?.connectedEdges ?? [];
  expect(behind?.edgeApiKeyRevisionIds?.map(({ currentRevisionId }) => currentRevisionId)).toEqual([11, undefined]);
});

it('looks up at most fifty revisions, each once, whatever edges report', () => {
  let lookUps = 0;
  const many = edge([...Array.from({ length: 80 }, (_, nth) => `environment-${nth}`), 'environment-1']);
  withCurrentRevisions([many, many], () => ++lookUps);
  expect(lookUps).toBe(50);
});

it('compares every edge, also behind ones that report many revisions or made-up ones', () => {
  const madeUp = edge(Array.from({ length: 100 }, (_, nth) => `made-up-${nth}`));
  const many = edge(Array.from({ length: 100 }, (_, nth) => `environment-${nth}`));
  const listed = withCurrentRevisions([madeUp, many, edge(['production'])], ({ environment }) =>
    environment.startsWith('made-up') ? undefined : 4,
  );
  expect(listed[2]?.edgeApiKeyRevisionIds).toMatchObject([{ revisionId: 3, currentRevisionId: 4 }]);
  expect(listed[1]?.edgeApiKeyRevisionIds?.filter(({ currentRevisionId }) => currentRevisionId === 4)).toHaveLength(49);
});
