import { Tags } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectFits, expectRefusal } from '../../support/expectations.ts';
import { featurePath, platformClient } from '../../support/platform-client.ts';
import type { Platform } from '../../support/platform.ts';

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
