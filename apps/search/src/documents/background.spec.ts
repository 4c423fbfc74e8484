import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLog } from '@bunting/runtime';
import { eventually } from '@bunting/testing';
import { Registry } from 'prom-client';
import {
  aFeature,
  deletedFeatureState,
  featureState,
  stateInEnvironment,
  segmentState,
  tagged,
} from '../../test/builders.ts';
import { type StartedSearch, startSearch } from '../../test/started-search.ts';
import { reconciler, startReconciliation, stateSource } from './background.ts';
import { documentStore } from './document-store.ts';
import { documentFormat } from './feature-document.ts';

let started: StartedSearch;
beforeAll(async () => {
  started = await startSearch({ SEARCH_RECONCILE_INTERVAL_MS: '100' });
  const environments = [
    stateInEnvironment('production', { enabled: true, yes: 4, lastSeenAt: '2026-01-05T00:00:00.000Z' }),
  ];
  await started.features.publish(
    segmentState(1, 'beta', 3),
    segmentState(2, 'gamma', 1),
    featureState(aFeature({ name: 'one', tags: tagged('simple:red'), segments: [1], environments }), 4),
    featureState(aFeature({ name: 'two', project: 'shop', lastSeenAt: '2026-01-05T00:00:00.000Z' }), 7),
    featureState(aFeature({ name: 'gone' }), 1),
    deletedFeatureState('gone', 2),
  );
  expect(await started.names({ sortBy: 'name' })).toEqual(['one', 'two']);
});
afterAll(() => started.stop());

/** Corrupts the tables of search. */
function sql(text: string): Promise<unknown> {
  return started.database.transaction(({ query }) => query(text));
}

async function all() {
  const { features, total } = await started.search({ sortBy: 'name' });
  return { names: features.map(({ name }) => name), total };
}

describe('the reconciler', () => {
  const damages: readonly [string, string, Parameters<StartedSearch['names']>[0], readonly string[]][] = [
    [
      'the loss of a feature',
      `delete from feature_document where name = 'one'; delete from feature_lookup where name = 'one'`,
      { tag: 'INCLUDE:simple:red' },
      ['one'],
    ],
    [
      'the loss of the search row of a feature',
      `delete from feature_lookup where name = 'one'`,
      { query: 'one' },
      ['one'],
    ],
    [
      'the loss of the document of a feature',
      `delete from feature_document where name = 'two'`,
      { query: 'two' },
      ['two'],
    ],
    [
      'a missed update of a feature',
      `update feature_document set version = 2 where name = 'two'; update feature_lookup set project = 'default' where name = 'two'`,
      { project: 'IS:shop' },
      ['two'],
    ],
    [
      'an update of a feature that never happened',
      `update feature_document set version = 99 where name = 'two'; update feature_lookup set project = 'bank' where name = 'two'`,
      { project: 'IS:shop' },
      ['two'],
    ],
    [
      'a wrong tag of a feature at the correct version',
      `update feature_lookup set tags = '{simple:blue}' where name = 'one'`,
      { tag: 'INCLUDE:simple:red' },
      ['one'],
    ],
    [
      'a wrong project of a feature at the correct version',
      `update feature_lookup set project = 'bank' where name = 'two'`,
      { project: 'IS:shop' },
      ['two'],
    ],
    [
      'the reappearance of a deleted feature',
      `insert into feature_lookup select (json_populate_record(l, '{"name":"gone"}')).* from feature_lookup l where name = 'one'; update feature_document set document = (select document from feature_document where name = 'one') where name = 'gone'`,
      { query: 'gone' },
      [],
    ],
    [
      'the appearance of a feature that never existed',
      `insert into feature_document select 'ghost', 1, document from feature_document where name = 'one'; insert into feature_lookup select (json_populate_record(l, '{"name":"ghost","search_text":"ghost"}')).* from feature_lookup l where name = 'one'`,
      { query: 'ghost' },
      [],
    ],
    ['the loss of a segment', `delete from segment where id = 1`, { segment: 'INCLUDE:beta' }, ['one']],
    [
      'a missed rename of a segment',
      `update segment set name = 'alpha', version = 2 where id = 1`,
      { segment: 'INCLUDE:beta' },
      ['one'],
    ],
    [
      'a wrong name of a segment at the correct version',
      `update segment set name = 'alpha' where id = 1; update segment set version = 9 where id = 2`,
      { segment: 'INCLUDE:beta' },
      ['one'],
    ],
    ['the loss of the words of features', 'truncate search_word', { query: 'simpel', fuzzy: 'true' }, ['one']],
    [
      'the loss of everything',
      `truncate feature_document, feature_lookup, segment, search_word`,
      { segment: 'INCLUDE:beta' },
      ['one'],
    ],
  ];
  it.each(damages)('restores correct results of searches after %s', async (_name, damage, query, expected) => {
    await sql(damage);
    await eventually(async () => {
      expect(await started.names(query)).toEqual(expected);
      expect(await all()).toEqual({ names: ['one', 'two'], total: 2 });
    });
    const [whole] = (await started.search({ query: 'one' })).features;
    expect(whole).toMatchObject({ name: 'one', tags: [{ value: 'red' }], segments: ['beta'] });
  });

  it('logs no warning when only usage figures differ', async () => {
    const versions = () =>
      started.database.read({ text: 'select name, version, xmin from feature_document order by name' });
    const before = await versions();
    started.features.addUsage('one', { yes: 9, lastSeenAt: '2026-01-06T00:00:00.000Z' });
    const compared = () =>
      started.database.read<{ at: string }>({ text: 'select claimed_at::text as at from reconciliation' });
    const [first] = await compared();
    await eventually(async () => expect((await compared())[0]?.at).not.toBe(first?.at));
    const [second] = await compared();
    await eventually(async () => expect((await compared())[0]?.at).not.toBe(second?.at));
    expect(await versions()).toEqual(before);
  });

  it('compares again when the clock of the database was set back since the last comparison', async () => {
    await started.database.query({ text: `update reconciliation set claimed_at = now() + interval '1 year'` });
    const text = 'select claimed_at < now() as "isNow" from reconciliation';
    await eventually(async () => expect(await started.database.read({ text })).toEqual([{ isNow: true }]));
  });

  it('repairs documents while features are created, changed and deleted', async () => {
    for (let version = 1; version <= 40; version++) {
      await started.features.publish(
        featureState(aFeature({ name: 'busy', type: version % 2 === 0 ? 'release' : 'experiment' }), version),
      );
      expect((await started.search({ query: 'busy' })).features[0]?.type).toBe(
        version % 2 === 0 ? 'release' : 'experiment',
      );
    }
    await started.features.publish(deletedFeatureState('busy', 41));
    expect(await started.names({ query: 'busy' })).toEqual([]);
  });
});

it('finds in one reconciliation every feature that was lost or never existed, however many there are', async () => {
  const names = Array.from({ length: 2_500 }, (_, nth) => `many-${String(nth).padStart(4, '0')}`);
  const service = await startSearch({ SEARCH_RECONCILE_INTERVAL_MS: '0' });
  try {
    await service.features.publish(...names.map((name) => featureState(aFeature({ name }), 1)));
    expect(await service.names({ query: 'many-2499' })).toEqual(['many-2499']);
    await service.database.transaction(({ query }) =>
      query(`
        delete from feature_document where name in ('many-0000', 'many-1700', 'many-2499');
        delete from feature_lookup where name in ('many-1700', 'many-2499');
        update feature_document set version = 0 where name = 'many-2100';
        insert into feature_document select 'many-2200x', 1, document from feature_document where name = 'many-0001';
        insert into feature_lookup select (json_populate_record(l, '{"name":"many-2200x"}')).* from feature_lookup l where name = 'many-0001'`),
    );
    const states = { catchUp: async () => 0 };
    const stored = documentStore(service.database);
    const { reconcile } = reconciler({ source: stateSource(service.bus), stored, states });
    const { repaired, isBehind } = await reconcile('');
    expect({ repaired, isBehind }).toEqual({
      repaired: ['many-0000', 'many-1700', 'many-2100', 'many-2200x', 'many-2499'],
      isBehind: false,
    });
    expect(await service.names({ query: 'many-2200x' })).toEqual([]);
  } finally {
    await service.stop();
  }
});

it('writes documents of an earlier format anew, and finds features by whom they reach and by their stage', async () => {
  const service = await startSearch({ SEARCH_RECONCILE_INTERVAL_MS: '0' });
  try {
    const environments = [stateInEnvironment('production', { enabled: true, rules: [{ name: 'default' }] })];
    const lifecycle = { stage: 'live', enteredStageAt: '2026-01-01T12:00:00.000Z' };
    await service.features.publish(featureState(aFeature({ name: 'reaching', environments, lifecycle })));
    const reached = () => service.names({ status: ['production:all'], lifecycle: 'IS:live' });
    expect(await reached()).toEqual(['reaching']);
    await service.database.transaction(({ query }) =>
      query(`
        update feature_lookup set statuses = '{production:enabled}';
        update reconciliation set document_format = 1`),
    );
    expect(await reached()).toEqual([]);
    const stored = documentStore(service.database);
    const source = stateSource(service.bus);
    const { rebuild } = reconciler({ source, stored, states: { catchUp: async () => 0 } });
    const reconcile = async () => ({ isBehind: false, repaired: [], compared: 0, comparedUpTo: '' });
    const options = { intervalMs: 50, metrics: new Registry(), log: openLog('silent') };
    const reconciliation = startReconciliation({ ...options, reconcile, rebuild, stored });
    await eventually(async () => expect(await reached()).toEqual(['reaching']));
    await eventually(async () => expect(await stored.format()).toBe(documentFormat));
    await reconciliation.stop();
  } finally {
    await service.stop();
  }
});

it('forgets the words of features that are gone, and keeps those of the others', async () => {
  const service = await startSearch({ SEARCH_RECONCILE_INTERVAL_MS: '0' });
  try {
    await service.features.publish(
      featureState(aFeature({ name: 'kept-checkout' })),
      featureState(aFeature({ name: 'dropped-checkout', tags: tagged('team:vanished') })),
    );
    await service.features.publish(deletedFeatureState('dropped-checkout', 2));
    expect(await service.names({ query: 'chekcout', fuzzy: 'true' })).toEqual(['kept-checkout']);
    const stored = documentStore(service.database);
    const { reconcile } = reconciler({
      source: stateSource(service.bus),
      stored,
      states: { catchUp: async () => 0 },
    });
    await reconcile('');
    const words = await service.database.read<{ word: string }>({ text: 'select word from search_word order by word' });
    expect(words.map(({ word }) => word)).toEqual(['checkout', 'kept']);
    expect(await stored.removeUnusedWords('', 1)).toBe('checkout');
    expect(await stored.removeUnusedWords('checkout', 2)).toBe('');
  } finally {
    await service.stop();
  }
});

describe('a reindex', () => {
  it('continues when changes that it waits for take longer to be applied than one wait', async () => {
    const source = {
      states: async (entity: string) =>
        entity === 'segment' ? [{ id: '1', version: 1, state: { id: 1, name: 'one', project: null } }] : [],
      versions: async () => [],
    };
    const replaced: string[] = [];
    const stored = {
      states: async () => [],
      versions: async () => [],
      count: async () => 0,
      replace: async (_entity: unknown, id: string) => replaced.push(id) > 0,
      addMissingWords: async () => undefined,
      removeUnusedWords: async () => '',
    };
    const behindMs = [1, 0];
    const states = { catchUp: async () => behindMs.shift() ?? 0 };
    await reconciler({ source, stored, states }).rebuild(async () => undefined);
    expect(replaced).toEqual(['1']);
  });
});
