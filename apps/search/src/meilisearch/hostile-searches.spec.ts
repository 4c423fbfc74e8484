import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aFeature, featureTold, inEnvironment, segmentTold } from '../../test/builders.ts';
import { hostileName } from '../../test/hostile-texts.ts';
import { type MeilisearchStandIn, startMeilisearchStandIn } from '../../test/meilisearch/stand-in.ts';
import { type StartedMeilisearch, startOnFreshDatabase } from '../../test/meilisearch/started.ts';
import { indexFeed } from '../persistence/index-feed.ts';
import { postgresIndex } from '../persistence/postgres-index.ts';
import { featureQueryOf } from '../query/feature-query.ts';

let standIn: MeilisearchStandIn;
let started: StartedMeilisearch;
beforeAll(async () => {
  standIn = await startMeilisearchStandIn();
  started = await startOnFreshDatabase({ url: standIn.url });
});
afterAll(async () => {
  await started.stop();
  await standIn.stop();
});

const mia = { userId: 7, hiddenProjects: [] };

describe('Meilisearch', () => {
  it('finds hostile names as PostgreSQL does: each as itself, and none as a part of a filter', async () => {
    const names = fc.sample(hostileName, { numRuns: 60, seed: 11 });
    const segments = [...new Set(names)];
    await started.apply([
      ...segments.map((name, at) => segmentTold(at + 1, name)),
      ...names.map((name, at) =>
        featureTold(
          aFeature({
            ...{ name: `f-${at}`, project: name, segments: [segments.indexOf(name) + 1] },
            tags: [{ type: 'simple', value: name }],
            createdBy: { id: at, name, imageUrl: '' },
            environments: [inEnvironment(name.replaceAll(':', '.'), { enabled: at % 2 === 0 })],
          }),
        ),
      ),
    ]);
    await started.level();
    const postgres = postgresIndex(started.database);
    for (const [at, name] of names.entries()) {
      const environment = name.replaceAll(':', '.');
      for (const asked of [
        { tag: `INCLUDE:simple:${name}` },
        { tag: `EXCLUDE_ALL:simple:${name}` },
        { segment: `INCLUDE:${name}` },
        { project: `IS:${name}` },
        { createdBy: `IS_NOT:${name}` },
        { query: name },
        { status: [`${environment}:enabled`, `${environment}:disabled`] },
        { sortBy: `environment:${environment}`, sortOrder: at % 2 === 0 ? 'asc' : 'desc' },
      ]) {
        const query = featureQueryOf({ ...asked, limit: '20' });
        const found = await started.index.search(query, mia);
        expect({ asked, ...found }).toEqual({ asked, ...(await postgres.search(query, mia)) });
      }
    }
  });

  it('is told nothing when a segment of 5,000 features has another name, and finds them by it at once', async () => {
    const many = Array.from({ length: 5_000 }, (_, nth) =>
      featureTold(aFeature({ name: `s-${nth}`, segments: [900] })),
    );
    await started.apply([segmentTold(900, 'before'), ...many.slice(0, 2_500)]);
    await started.apply(many.slice(2_500));
    await started.level();
    const feed = indexFeed(started.database);
    const { position } = await feed.standing('features');
    const writes = () =>
      standIn.calls.filter(({ method, path }) => method === 'POST' && path.endsWith('/documents')).length;
    const before = writes();
    await started.apply([segmentTold(900, 'after', 2)]);
    const search = (name: string) =>
      started.index.search(featureQueryOf({ segment: `INCLUDE:${name}`, limit: '1' }), mia);
    expect((await search('after')).total).toBe(5_000);
    expect((await search('after')).features).toContain('"segments":["after"]');
    expect((await search('before')).total).toBe(0);
    expect((await feed.standing('features')).position).toBe(position);
    expect(writes()).toBe(before);
  });
});
