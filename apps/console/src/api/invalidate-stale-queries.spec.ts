import { expect, it } from '@jest/globals';
import { CreateGroup, ListGroups, ListSegments, ListUsers, SearchEvents, UpdateProject } from '@bunting/contracts';
import { QueryClient } from '@tanstack/react-query';
import { invalidateStaleQueries } from './invalidate-stale-queries.ts';
import { operationKey } from './queries-and-mutations.ts';

const reads = [ListGroups, ListUsers, SearchEvents, ListSegments];

it.each([
  [
    'the reads of its tag, those that depend on them and the event log',
    CreateGroup,
    [ListGroups, ListUsers, SearchEvents],
  ],
  ['all reads, where it reaches into most of them', UpdateProject, reads],
  ['all reads, where several operations are called', undefined, reads],
])('a write invalidates %s', async (_name, operation, expected) => {
  const client = new QueryClient();
  for (const read of reads) client.setQueryData(operationKey(read, {}), {});
  await invalidateStaleQueries(client, operation);
  expect(reads.filter((read) => client.getQueryState(operationKey(read, {}))?.isInvalidated)).toEqual(expected);
});
