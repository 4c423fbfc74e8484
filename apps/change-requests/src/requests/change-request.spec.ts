import { expect, it } from 'vitest';
import { aRequest, mia } from '../../test/builders.ts';
import { entityTagOfRequest, requireOpenForPlayground } from './change-request.ts';

it.each(['Draft', 'In review', 'Approved', 'Scheduled'] as const)(
  'the changes of a request in state %s are evaluated as proposed ones',
  (state) => {
    expect(() => requireOpenForPlayground({ id: 7, state })).not.toThrow();
  },
);

it.each(['Applied', 'Rejected', 'Cancelled'] as const)('a request in state %s proposes nothing any more', (state) => {
  expect(() => requireOpenForPlayground({ id: 7, state })).toThrow(
    `Change request 7 is closed (${state}): its changes are not proposed any more.`,
  );
});

it('a request has the same entity tag before and after it is stored, whatever of its author is stored', () => {
  const tags = [mia, { ...mia, username: null }, { ...mia, username: 'mia' }].map((createdBy) =>
    entityTagOfRequest(aRequest({ createdBy })),
  );
  expect(new Set(tags).size).toBe(1);
  expect(entityTagOfRequest(aRequest({ title: 'Other' }))).not.toBe(tags[0]);
});
