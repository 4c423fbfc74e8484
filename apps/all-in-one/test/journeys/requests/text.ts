import type { Feature, Segment } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { request } from 'node:http';
import { expectRefusal } from '../../support/expectations.ts';
import { featurePath, platformClient } from '../../support/platform-client.ts';
import type { Platform } from '../../support/platform.ts';

/** Texts that look the same as others, that programs often normalise, or that have a meaning in programs. */
const texts: readonly (readonly [kind: string, text: string])[] = [
  ['composed', 'caf\u00e9 \u212b'],
  ['decomposed', 'cafe\u0301 A\u030a'],
  ['of four bytes a character', '\u{1F469}\u200d\u{1F680} \u{20BB7}'],
  ['from right to left', '\u202eabc\u202c \u200f\u05e9\u05dc\u05d5\u05dd'],
  ['with invisible spaces', '\ufeff\u200b\u00a0x\u2003y'],
  ['of a prototype', '__proto__'],
  ['of a constructor', 'constructor'],
  ['that is escaped already', '%2F%00%2E%2E &amp; \\u0000'],
  ['of two dots', '..'],
];

/** The status for a path, which is sent without the normalisation of dots and escapes that clients do. */
const statusOf = (platform: Platform, path: string, method = 'GET'): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(platform.url);
    const outgoing = request(
      { hostname, port, path, method, headers: { authorization: platform.token } },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    outgoing.on('error', reject).end();
  });

/** Text is returned exactly as it was sent, or is refused. */
export const describeText = (platform: () => Platform): void => {
  describe('text', () => {
    const project = 'text';
    const client = () => platformClient(platform().api);
    const address = featurePath(project, 'text-flag');

    beforeAll(async () => {
      await client().createProject(project);
      await client().createFeature(project, 'text-flag');
    });

    it.each(texts)('%s is returned unchanged, wherever it is stored', async (_, text) => {
      const description = [{ op: 'replace', path: '/description', value: text }];
      expect((await platform().api('PATCH', address, description)).status).toBe(200);
      const { id } = await client().addStrategy(address, 'development', {
        title: text,
        constraints: [{ contextName: 'userId', operator: 'IN', values: [text] }],
      });
      const tag = `tag ${text}`.slice(0, 50).trim();
      await client().addTag('text-flag', 'simple', tag);
      const segment = await client().createSegment({ name: `segment ${text}`, description: text });

      const feature: Feature = await client().getFeature(address);
      expect(feature.description).toBe(text);
      const strategy = feature.environments?.[0]?.strategies?.find((one) => one.id === id);
      expect([strategy?.title, strategy?.constraints?.[0]?.values]).toEqual([text, [text]]);
      expect(feature.tags).toContainEqual({ type: 'simple', value: tag });
      const { body } = await platform().api<Segment>('GET', `/api/admin/segments/${segment.id}`);
      expect([body.name, body.description]).toEqual([`segment ${text}`, text]);

      const found = await client().search({ tag: `INCLUDE:simple:${tag}` });
      expect(found.features.map(({ name, tags }) => [name, tags?.some(({ value }) => value === tag)])).toEqual(
        tag.includes(',') ? [] : [['text-flag', true]],
      );
      const { events } = await client().events({ feature: 'text-flag', type: 'feature-metadata-updated', limit: 1 });
      expect(events[0]?.data).toMatchObject({ description: text });
      const { events: tagged } = await client().events({ feature: 'text-flag', type: 'feature-tagged', limit: 1 });
      expect(tagged[0]?.data).toEqual({ type: 'simple', value: tag });

      const removed = `/api/admin/features/text-flag/tags/simple/${encodeURIComponent(tag)}`;
      expect((await platform().api('DELETE', removed)).status).toBe(200);
      expect((await client().getFeature(address)).tags).toEqual([]);
      expect((await platform().api('DELETE', `${address}/environments/development/strategies/${id}`)).status).toBe(200);
    });

    it('in composed and decomposed form makes two different names', async () => {
      for (const name of ['caf\u00e9', 'cafe\u0301']) await client().createSegment({ name });
      const { body } = await platform().api<{ segments: Segment[] }>('GET', '/api/admin/segments');
      expect(body.segments.filter(({ name }) => name.normalize('NFC') === 'caf\u00e9')).toHaveLength(2);
    });

    it('is refused as the name of a feature when it is reserved: __proto__', async () => {
      const response = await platform().api('POST', `/api/admin/projects/${project}/features`, { name: '__proto__' });
      expectRefusal(response, 400, 'ValidationError');
    });

    it.each(['.', '..', '', ' ', 'a/b', 'a%2Fb', 'caf\u00e9', 'cafe\u0301', '\u{1F469}', '\u202ex', 'a\u0000b', 'a b'])(
      'is refused as the name of a feature when it is not valid in a URL: %j',
      async (name) => {
        const response = await platform().api('POST', `/api/admin/projects/${project}/features`, { name });
        expectRefusal(response, 400, 'ValidationError');
      },
    );

    it.each(['constructor', 'prototype', 'hasOwnProperty', '...', "~*()'!"])(
      'is accepted as the name of a feature: %s',
      async (name) => {
        await client().createFeature(project, name);
        const { status, body } = await platform().api<Feature>('GET', featurePath(project, encodeURIComponent(name)));
        expect([status, body.name]).toEqual([200, name]);
        expect(
          (await client().search({ query: name, project: `IS:${project}` })).features.map((one) => one.name),
        ).toContain(name);
        expect(await client().eventTypes({ feature: name })).toEqual(['feature-created']);
      },
    );

    it.each([
      ['%2F', 404],
      ['a%2Fb', 404],
      ['%2E%2E', 404],
      ['..%2F..', 404],
      ['%252E%252E', 404],
      ['%00', 400],
      ['a%00b', 400],
      ['%ED%A0%80', 400],
      ['%C0%AE', 400],
      ['%', 400],
      ['%zz', 400],
      ['__proto__x', 404],
    ] as const)('in a path is taken literally: %s returns %i', async (part, status) => {
      expect(await statusOf(platform(), `/api/admin/projects/${project}/features/${part}`)).toBe(status);
      expect(await statusOf(platform(), `/api/admin/projects/${part}/features/text-flag`)).toBe(status);
      const tag = `/api/admin/features/text-flag/tags/simple/${part}`;
      expect(await statusOf(platform(), tag, 'DELETE')).toBe(status === 400 ? 400 : 200);
    });
  });
};
