import { expect, it } from 'vitest';
import { aRequest, mia } from '../../test/builders.ts';
import { entityTagOfRequest } from './entity-tag.ts';

it('a request has the same entity tag before and after it is stored, whatever of its author is stored', () => {
  const tags = [mia, { ...mia, username: null }, { ...mia, username: 'mia' }].map((createdBy) =>
    entityTagOfRequest(aRequest({ createdBy })),
  );
  expect(new Set(tags).size).toBe(1);
  expect(entityTagOfRequest(aRequest({ title: 'Other' }))).not.toBe(tags[0]);
});
