import { expect, it } from 'vitest';
import { findingOfVersion } from './check-servers.ts';

it.each([
  [200, '{"commitSha":"1","pkgVersion":"1.50.0"}', false, 'version 1.50.0'],
  [401, '', true, 'Correct MEILI_KEY;'],
  [403, '', true, 'Correct MEILI_KEY;'],
  [503, '{}', true, 'Look at its log, and at what is in front of it;'],
  [404, '', true, 'Correct MEILI_URL: there is no Meilisearch;'],
  [200, '<html>', true, 'answers without a version. Correct MEILI_URL: there is no Meilisearch;'],
])('the doctor says what to do when Meilisearch answers %i %s', (status, body, isProblem, text) => {
  expect(findingOfVersion('http://meilisearch:7700', status, body)).toEqual({
    component: 'Meilisearch',
    isProblem,
    text: expect.stringContaining(text),
  });
});
