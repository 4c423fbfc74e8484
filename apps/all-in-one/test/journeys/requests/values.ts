import { request } from 'node:http';
import type { ChangeRequest, Feature, FeatureStrategy, Segment } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal, featurePath, platformClient } from '../../support/clients.ts';
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

const project = 'lenient';

/** Values that scripts send: numbers and booleans where the API has text, and weights as text. */
const sent = {
  name: 'flexibleRollout',
  parameters: { rollout: 50, sticky: true },
  constraints: [
    { contextName: 'userId', operator: 'IN', values: [7, 'eight'] },
    { contextName: 'userId', operator: 'NUM_GTE', value: 5 },
  ],
  variants: [
    {
      name: 'only',
      weight: '1000',
      weightType: 'variable',
      stickiness: 'default',
      payload: { type: 'number', value: 1 },
    },
  ],
};
const stored = {
  parameters: { rollout: '50', sticky: 'true' },
  constraints: [
    { operator: 'IN', values: ['7', 'eight'] },
    { operator: 'NUM_GTE', value: '5' },
  ],
  variants: [{ name: 'only', weight: 1000, payload: { type: 'number', value: '1' } }],
};

/** Every operation that accepts such values stores and returns them with the types of the API. */
export const describeLenientValues = (platform: () => Platform): void => {
  describe('numbers in place of text', () => {
    const client = () => platformClient(platform().api);
    const expectSuccess = async <T>(
      method: 'POST' | 'PUT' | 'PATCH' | 'GET',
      path: string,
      body?: unknown,
    ): Promise<T> => {
      const { status, text, body: responseBody } = await platform().api<T>(method, path, body);
      expect([Math.floor(status / 100), status < 300 ? '' : text]).toEqual([2, '']);
      return responseBody;
    };
    const at = async (feature: string): Promise<string> => {
      await client().createFeature(project, feature);
      return `${featurePath(project, feature)}/environments/development`;
    };

    beforeAll(() =>
      client()
        .createProject(project)
        .then(() => undefined),
    );

    it('are accepted in a strategy that is added, replaced or patched', async () => {
      const strategies = `${await at('lenient-strategy')}/strategies`;
      const { id } = await expectSuccess<FeatureStrategy>('POST', strategies, sent);
      expect(await expectSuccess('GET', `${strategies}/${id}`)).toMatchObject(stored);
      const rollout = (value: unknown) => ({ ...sent, parameters: { ...sent.parameters, rollout: value } });
      const wasReplaced = await expectSuccess('PUT', `${strategies}/${id}`, rollout(12.5));
      expect(wasReplaced).toMatchObject({ ...stored, parameters: { rollout: '12.5' } });
    });

    it('are refused in a patch of a strategy, whose values have the types of the interface', async () => {
      const strategies = `${await at('lenient-patch')}/strategies`;
      const { id } = await expectSuccess<FeatureStrategy>('POST', strategies, sent);
      for (const [path, value] of [
        ['/parameters/rollout', 25],
        ['/constraints/0/values/0', 7],
        ['/constraints/1/value', 99],
        ['/variants/0/weight', '1000'],
        ['/variants/0/payload/value', 1],
      ] as const) {
        const refused = await platform().api('PATCH', `${strategies}/${id}`, [{ op: 'replace', path, value }]);
        expectRefusal(refused, 400, 'ValidationError', path);
      }
      expect(await expectSuccess('GET', `${strategies}/${id}`)).toMatchObject(stored);
    });

    it('are accepted in the variants of a feature', async () => {
      const [variant] = sent.variants;
      const overrides = [{ contextName: 'userId', values: [99] }];
      const featureName = 'lenient-variants';
      await expectSuccess('POST', '/api/admin/features-batch/import', {
        project,
        environment: 'development',
        data: {
          features: [{ name: featureName }],
          featureStrategies: [],
          featureEnvironments: [{ featureName, enabled: false, variants: [{ ...variant, overrides }] }],
          tagTypes: [],
        },
      });
      const expected = [{ ...stored.variants[0], overrides: [{ values: ['99'] }] }];
      const variants = `${featurePath(project, featureName)}/environments/development/variants`;
      expect(await expectSuccess('GET', variants)).toMatchObject({ variants: expected });
      const replaced = await expectSuccess('PUT', variants, [
        { ...variant, overrides, payload: { type: 'number', value: 2 } },
      ]);
      expect(replaced).toMatchObject({ variants: [{ ...expected[0], payload: { value: '2' } }] });
      const patch = [{ op: 'replace', path: '/0/payload/value', value: 3 }];
      expect(await expectSuccess('PATCH', variants, patch)).toMatchObject({ variants: [{ payload: { value: '3' } }] });
    });

    it('are accepted in a segment', async () => {
      const made = await expectSuccess<Segment>('POST', '/api/admin/segments', {
        name: 'lenient-segment',
        constraints: sent.constraints,
      });
      expect(made.constraints).toMatchObject(stored.constraints);
    });

    it('are accepted in the changes of a change request, which lists them as they will be applied', async () => {
      await at('lenient-change');
      const { features } = await expectSuccess<ChangeRequest>(
        'POST',
        `/api/admin/projects/${project}/environments/development/change-requests`,
        { action: 'addStrategy', feature: 'lenient-change', payload: sent },
      );
      expect(features[0]?.changes[0]?.payload).toMatchObject(stored);
    });

    it('are accepted in an import', async () => {
      await expectSuccess('POST', '/api/admin/features-batch/import', {
        project,
        environment: 'development',
        data: {
          features: [{ name: 'lenient-import' }],
          featureStrategies: [{ ...sent, featureName: 'lenient-import' }],
          tagTypes: [],
        },
      });
      const strategies = `${featurePath(project, 'lenient-import')}/environments/development/strategies`;
      expect(await expectSuccess('GET', strategies)).toMatchObject([stored]);
    });
  });
};
