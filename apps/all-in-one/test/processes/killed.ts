import type { Event, FeatureStrategy } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { featurePath, platformClient } from '../support/clients.ts';
import type { OneProcess } from '../support/platform.ts';

/** An acknowledged write survives whatever happens next. */
export function describeKill(running: () => OneProcess): void {
  describe('a platform that was killed with SIGKILL', () => {
    const project = 'killed';
    let platform: OneProcess;
    const client = () => platformClient(platform.api);

    beforeAll(async () => {
      platform = running();
      await client().createProject(project);
    });

    it('keeps the last acknowledged write, its event and its entry in the search, and sends SDKs nothing that they already have', async () => {
      await client().createFeature(project, 'killed-sdk');
      const poll = (tag: string) =>
        platform.api('GET', '/api/client/features?environment=development', undefined, { 'if-none-match': tag });
      const old = (await poll('"none"')).headers.get('etag') ?? '';
      await client().toggle(featurePath(project, 'killed-sdk'), 'development', 'on');
      await client().createFeature(project, 'killed-flag');
      const address = featurePath(project, 'killed-flag');
      const { id } = await client().addStrategy(address, 'development', { title: 'Before' });
      const known = (await client().events({})).events;
      await client().addTag('killed-flag', 'simple', 'last-words');
      await client().patchStrategy(address, 'development', id, [
        { op: 'replace', path: '/title', value: 'Last words' },
      ]);
      const tag = (await poll(old)).headers.get('etag') ?? '';
      await platform.kill();
      await platform.restart();

      const { environments, tags } = await client().getFeature(address);
      expect(environments?.[0]?.strategies).toMatchObject([{ id, title: 'Last words' }]);
      expect(tags).toEqual([{ type: 'simple', value: 'last-words' }]);
      const found = await client().search({ tag: 'INCLUDE:simple:last-words' });
      expect(found.features.map(({ name }) => name)).toEqual(['killed-flag']);
      const { events } = await client().events({});
      expect(events.slice(0, 3)).toMatchObject([
        { type: 'feature-strategy-update', data: { title: 'Last words' }, preData: { title: 'Before' } },
        { type: 'feature-tagged', data: { value: 'last-words' } },
        { type: 'tag-created' },
      ]);
      // Events from before the kill have the same ids.
      expect(events.slice(3)).toEqual(known.slice(0, events.length - 3));

      expect((await poll(tag)).status).toBe(304);
      const again = await poll(old);
      expect([again.status, again.headers.get('etag')]).toEqual([200, tag]);
      await client().toggle(featurePath(project, 'killed-sdk'), 'development', 'off');
      expect((await poll(tag)).status).toBe(200);
    });

    it('has stored no unacknowledged write in part, and applies one once when it is retried with its Idempotency-Key', async () => {
      await client().createFeature(project, 'killed-once');
      const strategies = `${featurePath(project, 'killed-once')}/environments/development/strategies`;
      const keys = Array.from({ length: 25 }, () => randomUUID());
      const send = (key: string) =>
        platform.api<FeatureStrategy>('POST', strategies, { name: 'default' }, { 'idempotency-key': key });
      const names = Array.from({ length: 60 }, (_, nth) => `killed-many-${nth}`);
      const answered = new Set<string>();
      let [begun, begunOnce] = [() => {}, () => {}];
      const someAnswered = new Promise<void>((resolve) => (begun = resolve));
      const oneAnswered = new Promise<void>((resolve) => (begunOnce = resolve));
      const retried = keys.map((key) => send(key).then(begunOnce));
      const writers = names.map(async (name) => {
        await client().createFeature(project, name);
        answered.add(name);
        if (answered.size === 10) begun();
      });
      const settled = Promise.allSettled([...retried, ...writers]);
      await Promise.all([someAnswered, oneAnswered]);
      await platform.kill();
      await settled;
      await platform.restart();

      const { features, total } = await client().search({ query: 'killed-many-', limit: '100' });
      const found = new Set(features.map(({ name }) => name));
      expect(total).toBe(found.size);
      expect([...answered].filter((name) => !found.has(name))).toEqual([]);
      const isThere = async (name: string) => (await platform.api('GET', featurePath(project, name))).status === 200;
      const there = await Promise.all(names.map(isThere));
      expect(names.filter((_, nth) => there[nth]).toSorted()).toEqual([...found].toSorted());
      const { events } = await client().events({ project, type: 'feature-created', query: 'killed-many-' });
      expect(events.map(({ featureName }: Event) => featureName as string).toSorted()).toEqual([...found].toSorted());

      const responses = await Promise.all(keys.map(send));
      expect(responses.map(({ status }) => status)).toEqual(keys.map(() => 200));
      const { environments } = await client().getFeature(featurePath(project, 'killed-once'));
      const stored = environments?.[0]?.strategies?.map(({ id }) => id);
      expect(stored?.toSorted()).toEqual(responses.map(({ body }) => body.id).toSorted());
    });

    it('accepts new writes after its restart', async () => {
      await client().createFeature(project, 'killed-after');
      expect((await client().search({ query: 'killed-after' })).total).toBe(1);
      expect(await client().eventTypes({ feature: 'killed-after' })).toEqual(['feature-created']);
    });
  });
}
