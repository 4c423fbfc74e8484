import { newFeatureFieldsFor, SearchFeaturesResponse, Tags } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectFits, expectRefusal, featurePath, imageUrl, platformClient, timestamp } from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

const day = (shift: number): string => new Date(Date.now() + shift * 86_400_000).toISOString().slice(0, 10);

/** The feature search: each parameter on a few features that differ in it. */
export const describeSearch = (platform: () => Platform): void => {
  describe('a search for features', () => {
    const project = 'search';
    const client = () => platformClient(platform().api);
    const search = (query: string) =>
      platform().api<SearchFeaturesResponse>('GET', `/api/admin/search/features?${query}`);
    /** The names of the found features without their common prefix, in the order of the response. */
    const found = async (query: string, sort = '&sortBy=name'): Promise<string> => {
      const { status, body } = await search(`project=IS:${project}${sort}&${query}`);
      expect({ query, status }).toEqual({ query, status: 200 });
      expectFits(SearchFeaturesResponse, body);
      return body.features.map(({ name }) => name.replace('search-', '')).join(' ');
    };

    beforeAll(async () => {
      const { addStrategy, addTag, archive, createFeature, createProject, createSegment, toggle } = client();
      await createProject(project);
      const north = await createSegment({ name: 'search-north' });
      const south = await createSegment({ name: 'search-south' });
      await createFeature(project, 'search-delta', { type: 'experiment', description: 'hidden in here: kiwi' });
      await createFeature(project, 'search-alpha', { type: 'release', stale: true });
      await createFeature(project, 'search-Beta', { type: 'release' });
      await createFeature(project, 'search-gamma', { type: 'operational', impressionData: true });
      await createFeature(project, 'search-gone');
      await archive(featurePath(project, 'search-gone'));
      await addTag('search-alpha', 'simple', 'fruit:kiwi');
      await addTag('search-alpha', 'simple', 'green');
      await addTag('search-Beta', 'simple', 'green');
      await addTag('search-gamma', 'simple', 'Green');
      await addStrategy(featurePath(project, 'search-alpha'), 'development', { segments: [north.id] });
      await addStrategy(featurePath(project, 'search-alpha'), 'production', { segments: [north.id, south.id] });
      await addStrategy(featurePath(project, 'search-Beta'), 'production', { segments: [south.id] });
      await toggle(featurePath(project, 'search-alpha'), 'development', 'on');
      await toggle(featurePath(project, 'search-gamma'), 'production', 'on');
    });

    it('returns every property of the interface', async () => {
      const { status, body } = await search('query=search-alpha');
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          total: 1,
          features: [
            {
              ...newFeatureFieldsFor('search'),
              name: 'search-alpha',
              type: 'release',
              description: null,
              dependencyType: null,
              project,
              stale: true,
              favorite: false,
              impressionData: false,
              createdAt: timestamp,
              archivedAt: null,
              lastSeenAt: null,
              environments: [
                expect.objectContaining({
                  name: 'development',
                  type: 'development',
                  enabled: true,
                  variantCount: 0,
                  lastSeenAt: null,
                  hasStrategies: true,
                  hasEnabledStrategies: true,
                  yes: 0,
                  no: 0,
                  reach: expect.objectContaining({ extent: 'partial', rules: 1, audience: 'segments' }),
                }),
                expect.objectContaining({ name: 'production', type: 'production', enabled: false, yes: 0, no: 0 }),
              ],
              segments: ['search-north', 'search-south'],
              segmentIds: [expect.any(Number), expect.any(Number)],
              createdBy: { id: -42, name: expect.any(String), imageUrl },
              tags: expect.arrayContaining([
                { type: 'simple', value: 'fruit:kiwi' },
                { type: 'simple', value: 'green' },
              ]),
              lifecycle: expect.objectContaining({ stage: 'initial', enteredStageAt: timestamp }),
              ...(body.features[0]?.variants === undefined ? {} : { variants: [] }),
              ...(body.features[0]?.strategies === undefined ? {} : { strategies: [] }),
            },
          ],
        },
      });
      expectFits(SearchFeaturesResponse, body);
    });

    it.each([
      ['', 'Beta alpha delta gamma'],
      ['query=ALPHA', 'alpha'],
      ['query=kiwi', 'alpha'],
      ['query=simple:green', 'Beta alpha gamma'],
      ['query=alpha,%20delta', 'alpha delta'],
      ['query=100%25', ''],
      ['query=al_ha', ''],
      ['query=%20,%20', 'Beta alpha delta gamma'],
      ['type=IS:release', 'Beta alpha'],
      ['type=IS_NOT:release', 'delta gamma'],
      ['type=IS_ANY_OF:experiment,operational', 'delta gamma'],
      ['type=IS_NONE_OF:experiment,operational', 'Beta alpha'],
      ['state=IS:stale', 'alpha'],
      ['state=IS:active', 'Beta delta gamma'],
      ['state=IS_NONE_OF:active,stale', ''],
      ['createdBy=IS:-42', 'Beta alpha delta gamma'],
      ['createdBy=IS_NOT:-42', ''],
      ['createdBy=IS:7', ''],
      ['tag=INCLUDE:simple:green', 'Beta alpha'],
      ['tag=DO_NOT_INCLUDE:simple:green', 'delta gamma'],
      ['tag=INCLUDE_ANY_OF:simple:green,simple:Green', 'Beta alpha gamma'],
      ['tag=INCLUDE_ALL_OF:simple:green,simple:fruit:kiwi', 'alpha'],
      ['tag=EXCLUDE_IF_ANY_OF:simple:Green,simple:fruit:kiwi', 'Beta delta'],
      ['tag=EXCLUDE_ALL:simple:green,simple:fruit:kiwi', 'Beta delta gamma'],
      ['segment=INCLUDE:search-south', 'Beta alpha'],
      ['segment=DO_NOT_INCLUDE:search-south', 'delta gamma'],
      ['segment=INCLUDE_ANY_OF:search-north,search-south', 'Beta alpha'],
      ['segment=INCLUDE_ALL_OF:search-north,search-south', 'alpha'],
      ['segment=EXCLUDE_IF_ANY_OF:search-north', 'Beta delta gamma'],
      ['segment=EXCLUDE_ALL:search-north,search-south', 'Beta delta gamma'],
      ['segment=INCLUDE:SEARCH-south', ''],
      ['status=development:enabled', 'alpha'],
      ['status=development:partial', 'alpha'],
      ['status=production:all', 'gamma'],
      ['status[]=production:enabled', 'gamma'],
      ['status=development:enabled&status=production:enabled', 'alpha gamma'],
      ['status[]=development:enabled&status[]=production:enabled', 'alpha gamma'],
      ['status=production:disabled', 'Beta alpha delta'],
      ['archived=true', 'gone'],
      ['archived=IS:true', 'gone'],
      ['archived=false', 'Beta alpha delta gamma'],
      [`createdAt=IS_ON_OR_AFTER:${day(-1)}`, 'Beta alpha delta gamma'],
      [`createdAt=IS_BEFORE:${day(-1)}`, ''],
      [`createdAt=IS_BEFORE:${day(2)}`, 'Beta alpha delta gamma'],
      ['tag=INCLUDE:simple:green&type=IS:release&state=IS:active', 'Beta'],
      ['favoritesFirst=true', 'Beta alpha delta gamma'],
    ])('with the filter %s finds only the matching flags: %s', async (query, expected) => {
      expect(await found(query)).toBe(expected);
    });

    it.each([
      ['', 'delta alpha Beta gamma'],
      ['sortBy=createdAt', 'delta alpha Beta gamma'],
      ['sortBy=createdAt&sortOrder=desc', 'gamma Beta alpha delta'],
      ['sortBy=name&sortOrder=desc', 'gamma delta alpha Beta'],
      ['sortBy=type', 'delta gamma alpha Beta'],
      ['sortBy=stale&sortOrder=desc', 'alpha delta Beta gamma'],
      ['sortBy=environment:production&sortOrder=desc', 'gamma delta alpha Beta'],
      ['sortBy=environment:development', 'delta Beta gamma alpha'],
    ])('with "%s" returns the flags in the requested order: %s', async (query, expected) => {
      expect(await found(query, '')).toBe(expected);
    });

    it('pages, and returns the same total on every page', async () => {
      const page = async (query: string) => {
        const { body } = await search(`project=IS:${project}&sortBy=name&${query}`);
        return [body.features.map(({ name }) => name.replace('search-', '')).join(' '), body.total];
      };
      expect(await page('limit=2')).toEqual(['Beta alpha', 4]);
      expect(await page('limit=2&offset=2')).toEqual(['delta gamma', 4]);
      expect(await page('limit=2&offset=3')).toEqual(['gamma', 4]);
      expect(await page('offset=100')).toEqual(['', 4]);
      expect(await page('limit=1000&type=IS:release')).toEqual(['Beta alpha', 2]);
    });

    it('filters features, and returns matching features with all their environments', async () => {
      const { body } = await search(`project=IS:${project}&tag=INCLUDE:simple:fruit:kiwi&segment=INCLUDE:search-south`);
      expect(
        body.features.map(({ tags, segments, environments }) => [tags?.length, segments, environments.length]),
      ).toEqual([[2, ['search-north', 'search-south'], 2]]);
    });

    it('finds nothing for the id of a project in other case', async () => {
      const { body } = await search('project=IS:Search');
      expect(body).toEqual({ features: [], total: 0 });
    });

    it.each([
      ['project=search', 'project'],
      ['project=LIKE:search', 'project'],
      ['state=stale', 'state'],
      ['type=release', 'type'],
      ['createdBy=-42', 'createdBy'],
      ['tag=INCLUDE:red', 'tag'],
      ['tag=IS:simple:red', 'tag'],
      ['segment=search-north', 'segment'],
      ['createdAt=IS_BEFORE:yesterday', 'createdAt'],
      ['createdAt=IS_BEFORE:2020-13-45', 'createdAt'],
      ['sortOrder=DESC', 'sortOrder'],
      ['limit=0', 'limit'],
      ['limit=-1', 'limit'],
      ['limit=1001', 'limit'],
      ['limit=2.5', 'limit'],
      ['limit=abc', 'limit'],
      ['query=a&query=b', 'query'],
    ])('refuses %s, and names the parameter', async (query, parameter) => {
      expectRefusal(await search(query), 400, 'ValidationError', `/query/${parameter}`);
    });
  });
};

/** Adding tags to features, and removing them. */
export const describeTags = (platform: () => Platform): void => {
  describe('a tag of a feature', () => {
    const project = 'tags';
    const client = () => platformClient(platform().api);
    const add = (feature: string, body: unknown) => platform().api('POST', `/api/admin/features/${feature}/tags`, body);
    const remove = (feature: string, type: string, value: string) =>
      platform().api('DELETE', `/api/admin/features/${feature}/tags/${type}/${encodeURIComponent(value)}`);
    const tagsOf = async (feature: string) => {
      const { body } = await platform().api<Tags>('GET', `/api/admin/features/${feature}/tags`);
      expectFits(Tags, body);
      return body.tags.map(({ type, value }) => `${type}:${value}`);
    };

    beforeAll(async () => {
      await client().createProject(project);
      for (const name of ['tags-one', 'tags-lengths', 'tags-signs', 'tags-archived']) {
        await client().createFeature(project, name);
      }
    });

    it('is stored once however often it is added, and is removed with an empty response', async () => {
      for (const value of ['red', 'blue', 'red']) {
        const response = await add('tags-one', { type: 'simple', value });
        expect({ status: response.status, body: response.body }).toEqual({
          status: 201,
          body: { type: 'simple', value },
        });
        expect(response.headers.get('location')).toBe('tags-one/tags');
      }
      expect((await tagsOf('tags-one')).toSorted()).toEqual(['simple:blue', 'simple:red']);

      const removed = await remove('tags-one', 'simple', 'red');
      expect({ status: removed.status, text: removed.text }).toEqual({ status: 200, text: '' });
      expect(await tagsOf('tags-one')).toEqual(['simple:blue']);
    });

    it('can be removed although it is absent', async () => {
      for (const [type, value] of [
        ['simple', 'never-there'],
        ['nosuchtype', 'never-there'],
        ['simple', 'x'],
      ] as const) {
        const { status, text } = await remove('tags-one', type, value);
        expect({ status, text }).toEqual({ status: 200, text: '' });
      }
      const { totalEvents } = await client().events({
        feature: 'tags-one',
        type: 'feature-untagged',
        query: 'never-there',
      });
      expect(totalEvents).toBe(0);
    });

    it('of an unknown feature is a 404', async () => {
      expectRefusal(await remove('tags-unknown', 'simple', 'red'), 404, 'NotFoundError');
      expectRefusal(await add('tags-unknown', { type: 'simple', value: 'red' }), 404, 'NotFoundError');
      expectRefusal(await platform().api('GET', '/api/admin/features/tags-unknown/tags'), 404, 'NotFoundError');
    });

    it.each<[string, unknown, string]>([
      ['a value of 1 character', { type: 'simple', value: 'x' }, '/body/value'],
      ['a value of 51 characters', { type: 'simple', value: 'x'.repeat(51) }, '/body/value'],
      ['a type of 1 character', { type: 's', value: 'red' }, '/body/type'],
      ['no value', { type: 'simple' }, '/body/value'],
      ['a value that is no text', { type: 'simple', value: 55 }, '/body/value'],
      ['something besides', { type: 'simple', value: 'red', color: 'red' }, 'color'],
      ['an unknown type', { type: 'nosuch', value: 'red' }, 'nosuch'],
    ])('is refused, and nothing is added, for %s', async (_what, body, mentioned) => {
      expectRefusal(await add('tags-lengths', body), 400, 'ValidationError', mentioned);
      expect(await tagsOf('tags-lengths')).toEqual([]);
    });

    it('may have 2 to 50 characters of any kind, and comes back as it was sent', async () => {
      const values = ['ab', 'y'.repeat(50), '  padded  ', 'a/b:c,d %2F', 'ü🐦'];
      for (const value of values) {
        expect((await add('tags-signs', { type: 'simple', value })).body).toEqual({ type: 'simple', value });
      }
      expect((await tagsOf('tags-signs')).toSorted()).toEqual(values.map((value) => `simple:${value}`).toSorted());
      for (const value of values) expect((await remove('tags-signs', 'simple', value)).status).toBe(200);
      expect(await tagsOf('tags-signs')).toEqual([]);
    });

    it('can be removed from an archived feature', async () => {
      await client().addTag('tags-archived', 'simple', 'red');
      await client().archive(featurePath(project, 'tags-archived'));
      expect((await remove('tags-archived', 'simple', 'red')).status).toBe(200);
      expect(await tagsOf('tags-archived')).toEqual([]);
    });
  });
};
