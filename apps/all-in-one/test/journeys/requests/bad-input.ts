import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, expectRefusal, featurePath, platformClient } from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';
import { sendLarge } from '../../support/connections.ts';
import { unleashExport } from '../../unleash/unleash-export.ts';

const maxTries = 3;

const lone = '\ud83d';
const manyCopies = (from: string, to: (nth: number) => string): object[] =>
  Array.from({ length: 22 }, (_, nth) => ({ op: 'copy', from, path: to(nth) }));

/**
 * Bad input of every kind is refused and stores nothing.
 * @param maxMs the time limit of each refusal, which one of a few attempts must meet
 */
export const describeBadInput = (platform: () => Platform, maxMs = Number.POSITIVE_INFINITY): void => {
  describe('bad input', () => {
    const project = 'bad';
    const address = featurePath(project, 'bad-flag');
    const client = () => platformClient(platform().api);
    const slowest = { ms: 0, description: '' };
    let strategyId: string;
    let foreign: Record<'feature' | 'project' | 'environment', string>;
    let before: string;

    const stored = async (): Promise<string> => {
      const { api } = platform();
      const responses = await Promise.all([
        api('GET', `${address}?variantEnvironments=true`),
        api('GET', `/api/admin/projects/${project}/features`),
        api('GET', `/api/admin/projects/${project}/change-requests/pending`),
        api('GET', '/api/admin/segments'),
        api('POST', '/api/admin/events/search', { project }),
        api('GET', `/api/admin/search/features?project=IS:${project}`),
      ]);
      expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
      // Other journeys create segments concurrently.
      const texts = responses.map(({ text }) => text);
      expect(texts[3]).not.toContain('bad-');
      return [...texts.slice(0, 3), ...texts.slice(4)].join('\n');
    };

    const strategyPath = (id: string): string => `${address}/environments/development/strategies/${id}`;
    const refusedFor = async (description: string, send: () => Promise<ApiResponse>): Promise<ApiResponse> => {
      let response = await send();
      for (let tries = 1; response.ms >= maxMs && tries < maxTries; tries++) response = await send();
      if (response.ms > slowest.ms) Object.assign(slowest, { ms: response.ms, description });
      expect(response.ms).toBeLessThan(maxMs);
      expect(await stored()).toBe(before);
      return response;
    };

    beforeAll(async () => {
      await client().createProject(project);
      await client().createProject('bad-other');
      await client().createFeature(project, 'bad-flag', { description: 'As it was.' });
      await client().createFeature(project, 'bad-second');
      await client().createFeature('bad-other', 'bad-foreign');
      strategyId = (await client().addStrategy(address, 'development', { title: 'As it was' })).id as string;
      const inFeature = await client().addStrategy(featurePath(project, 'bad-second'), 'development');
      const inProject = await client().addStrategy(featurePath('bad-other', 'bad-foreign'), 'development');
      const inEnvironment = await client().addStrategy(address, 'production');
      foreign = {
        feature: inFeature.id as string,
        project: inProject.id as string,
        environment: inEnvironment.id as string,
      };
      before = await stored();
    });

    afterAll(() => {
      console.info(`bad input: the slowest refusal took ${slowest.ms.toFixed(1)} ms (${slowest.description})`);
    });

    it.each<[string, string | Uint8Array]>([
      ['a patch that was cut off', '[{"op":"replace","path":"/title","va'],
      ['a patch that is no list', '{"op":"remove","path":"/title"}'],
      ['a patch of numbers', '[1,2,3]'],
      ['a patch that is text', '"/title"'],
      ['a patch that is null', 'null'],
      ['a patch that is nested deeply', '['.repeat(100_000)],
      [
        'a value that is nested deeply',
        `[{"op":"add","path":"/title","value":${'['.repeat(5_000)}${']'.repeat(5_000)}}]`,
      ],
      ['a patch of 101 operations', JSON.stringify(new Array(101).fill({ op: 'remove', path: '/title' }))],
      ['bytes that are no UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0xfe, 0x22, 0x5d])],
      ['NUL in a title', '[{"op":"replace","path":"/title","value":"a\\u0000b"}]'],
      ['half a surrogate pair in a title', JSON.stringify([{ op: 'replace', path: '/title', value: `a${lone}` }])],
      ['NUL in the name of a parameter', '[{"op":"add","path":"/parameters/a\\u0000","value":"x"}]'],
      [
        'half a surrogate pair in a constraint',
        `[{"op":"add","path":"/constraints/-","value":{"contextName":"userId","operator":"IN","values":["\\udc00"]}}]`,
      ],
      ['__proto__ in a path', '[{"op":"add","path":"/__proto__/polluted","value":"yes"}]'],
      ['__proto__ as a parameter', '[{"op":"add","path":"/parameters/__proto__","value":{"polluted":"yes"}}]'],
      ['a path to the constructor', '[{"op":"add","path":"/constructor/prototype/polluted","value":"yes"}]'],
      ['__proto__ in a value', '[{"op":"replace","path":"/parameters","value":{"__proto__":{"polluted":"yes"}}}]'],
      ['__proto__ as where to copy from', '[{"op":"copy","from":"/__proto__","path":"/parameters"}]'],
    ])('a patch of a strategy is refused, and pollutes no prototype: %s', async (description, body) => {
      const response = await refusedFor(description, () => platform().api('PATCH', strategyPath(strategyId), body));
      expectRefusal(response, 400, 'ValidationError');
      expect(({} as { polluted?: string }).polluted).toBeUndefined();
    });

    it.each<[string, object[]]>([
      [
        'parameters',
        [
          { op: 'add', path: '/parameters/seed', value: 'x'.repeat(60) },
          ...manyCopies('/parameters', (nth) => `/parameters/p${nth}`),
        ],
      ],
      [
        'constraints',
        [
          { op: 'add', path: '/constraints/-', value: { contextName: 'userId', operator: 'IN', values: ['ann'] } },
          ...manyCopies('/constraints', () => '/constraints/-'),
        ],
      ],
      ['the whole', manyCopies('', (nth) => `/parameters/p${nth}`)],
    ])('is refused: 22 copies, each of which doubles %s', async (description, patch) => {
      const send = () => platform().api('PATCH', strategyPath(strategyId), patch);
      const response = await refusedFor(`22 copies of ${description}`, send);
      expectRefusal(response, 400, 'ValidationError');
    });

    it('is refused: the path of a strategy with another feature, project or environment, or with an unknown id', async () => {
      const patch = [{ op: 'replace', path: '/title', value: 'Changed' }];
      for (const id of [
        ...Object.values(foreign),
        '00000000-0000-4000-8000-000000000000',
        '7',
        "'; drop table strategy; --",
      ]) {
        const path = strategyPath(encodeURIComponent(id));
        expectRefusal(
          await refusedFor('a foreign strategy', () => platform().api('PATCH', path, patch)),
          404,
          'NotFoundError',
        );
      }
    });

    it.each<[string, string, string, unknown]>([
      ['a feature in an unknown project', 'POST', '/api/admin/projects/bad-nowhere/features', { name: 'bad-new' }],
      [
        'a strategy for an unknown feature',
        'POST',
        `${featurePath(project, 'bad-none')}/environments/development/strategies`,
        { name: 'default' },
      ],
      [
        'a strategy in an unknown environment',
        'POST',
        `${address}/environments/nowhere/strategies`,
        { name: 'default' },
      ],
      ['a strategy of an unknown type', 'POST', `${address}/environments/development/strategies`, { name: 'nosuch' }],
      [
        'an unknown feature to turn on',
        'POST',
        `${featurePath(project, 'bad-none')}/environments/development/on`,
        undefined,
      ],
      ['an unknown environment to turn on in', 'POST', `${address}/environments/nowhere/on`, undefined],
      ['an unknown feature to archive', 'DELETE', featurePath(project, 'bad-none'), undefined],
      [
        'a change in an unknown project',
        'POST',
        '/api/admin/projects/bad-nowhere/environments/development/change-requests',
        { action: 'archiveFeature', feature: 'bad-flag' },
      ],
      [
        'a change in an unknown environment',
        'POST',
        `/api/admin/projects/${project}/environments/nowhere/change-requests`,
        { action: 'archiveFeature', feature: 'bad-flag' },
      ],
      [
        'a change of an unknown feature',
        'POST',
        `/api/admin/projects/${project}/environments/development/change-requests`,
        { action: 'archiveFeature', feature: 'bad-none' },
      ],
      [
        'a change of an unknown strategy',
        'POST',
        `/api/admin/projects/${project}/environments/development/change-requests`,
        { action: 'deleteStrategy', feature: 'bad-flag', payload: { id: 'none' } },
      ],
      [
        'a change of an unknown segment',
        'POST',
        `/api/admin/projects/${project}/environments/development/change-requests`,
        { action: 'deleteSegment', payload: { id: 2_000_000_000 } },
      ],
      [
        'an import into an unknown project',
        'POST',
        '/api/admin/features-batch/import',
        {
          project: 'bad-nowhere',
          environment: 'development',
          data: { features: [], featureStrategies: [], tagTypes: [] },
        },
      ],
      [
        'wrong types everywhere',
        'POST',
        `/api/admin/projects/${project}/features`,
        { name: ['bad-new'], type: 7, stale: 'yes', tags: {} },
      ],
      ['a name that is an object', 'POST', `/api/admin/projects/${project}/features`, { name: { length: 3 } }],
      ['a segment without constraints', 'POST', '/api/admin/segments', { name: 'bad-segment' }],
      [
        'a segment with a wrong constraint',
        'POST',
        '/api/admin/segments',
        { name: 'bad-segment', constraints: [{ contextName: 'userId', operator: 'IN', values: [null] }] },
      ],
      [
        'NUL in a description',
        'POST',
        `/api/admin/projects/${project}/features`,
        { name: 'bad-new', description: 'a\0b' },
      ],
      [
        'half a surrogate pair in a description',
        'POST',
        `/api/admin/projects/${project}/features`,
        { name: 'bad-new', description: lone },
      ],
      [
        'half a surrogate pair in a tag',
        'POST',
        '/api/admin/features/bad-flag/tags',
        { type: 'simple', value: `a${lone}b` },
      ],
      ['NUL in a tag', 'POST', '/api/admin/features/bad-flag/tags', { type: 'simple', value: 'a\0b' }],
      ['NUL in the name of a segment', 'POST', '/api/admin/segments', { name: 'bad-\0', constraints: [] }],
      [
        'half a surrogate pair in a change',
        'POST',
        `/api/admin/projects/${project}/environments/development/change-requests`,
        { action: 'updateStrategy', feature: 'bad-flag', payload: { id: 'x', title: lone } },
      ],
      ['NUL in a search for events', 'POST', '/api/admin/events/search', { query: 'a\0' }],
      [
        '__proto__ in a feature',
        'POST',
        `/api/admin/projects/${project}/features`,
        '{"name":"bad-new","__proto__":{"polluted":"yes"}}',
      ],
      [
        '__proto__ in parameters',
        'POST',
        `${address}/environments/development/strategies`,
        '{"name":"default","parameters":{"__proto__":"yes"}}',
      ],
      [
        '__proto__ in a change',
        'POST',
        `/api/admin/projects/${project}/environments/development/change-requests`,
        '{"action":"__proto__","feature":"bad-flag","payload":{}}',
      ],
      [
        'constructor as an action',
        'POST',
        `/api/admin/projects/${project}/environments/development/change-requests`,
        { action: 'constructor', feature: 'bad-flag', payload: {} },
      ],
      ['NUL in the name of a feature', 'GET', featurePath(project, 'bad%00flag'), undefined],
      ['NUL in a tag to remove', 'DELETE', '/api/admin/features/bad-flag/tags/simple/a%00b', undefined],
      ['half a surrogate pair in an address', 'GET', featurePath(project, 'bad%ED%A0%80'), undefined],
      ['half an escape in an address', 'GET', featurePath(project, 'bad%E'), undefined],
      ['NUL in a filter', 'GET', '/api/admin/search/features?query=a%00b', undefined],
      ['half an escape in a filter', 'GET', '/api/admin/search/features?query=%', undefined],
      [
        'half a surrogate pair in a filter',
        'GET',
        '/api/admin/search/features?tag=INCLUDE:simple:%ED%A0%80',
        undefined,
      ],
      ['an id that is no number', 'GET', '/api/admin/segments/one', undefined],
      ['an id beyond all numbers', 'GET', '/api/admin/segments/99999999999999999999', undefined],
    ])(
      'a request is refused as invalid or not found, never with an internal error: %s',
      async (description, method, path, body) => {
        const response = await refusedFor(description, () => platform().api(method, path, body));
        expectRefusal(
          response,
          response.status === 404 ? 404 : 400,
          response.status === 404 ? 'NotFoundError' : 'ValidationError',
        );
        expect(({} as { polluted?: string }).polluted).toBeUndefined();
      },
    );

    it('is refused: a tag filter of 4 kB on which a regular expression would backtrack', async () => {
      const hostile = `INCLUDE:${'a:b,'.repeat(1_000)}\n`;
      const path = `/api/admin/search/features?tag=${encodeURIComponent(hostile)}`;
      const response = await refusedFor('a hostile tag filter', () => platform().api('GET', path));
      expectRefusal(response, 400, 'ValidationError', '/query/tag');
      for (const parameter of ['project', 'state', 'type', 'createdBy', 'segment']) {
        const operator = parameter === 'segment' ? 'INCLUDE' : 'IS';
        const list = encodeURIComponent(`${operator}:${',a'.repeat(2_000)}!\n`);
        const path = `/api/admin/search/features?${parameter}=${list}`;
        // The API does not say whether a value may contain a line break, but the response must be fast.
        const { status } = await refusedFor(parameter, () => platform().api('GET', path));
        expect([200, 400]).toContain(status);
      }
    });

    it('is refused: a body of 20 MB', async () => {
      const large = Buffer.from(JSON.stringify([{ op: 'replace', path: '/title', value: 'x'.repeat(20_000_000) }]));
      for (const [method, path] of [
        ['PATCH', strategyPath(strategyId)],
        ['POST', '/api/admin/events/search'],
        ['POST', '/api/admin/features-batch/import'],
      ] as const) {
        const send = () => sendLarge(platform(), method, path, large, { declared: true });
        expectRefusal(await refusedFor('a body of 20 MB', send), 413, 'PayloadTooLarge');
      }
    });

    it('is refused: a truncated import', async () => {
      const file = unleashExport('bad', 'development');
      const whole = JSON.stringify({ project, environment: 'development', data: file });
      const response = await refusedFor('half an import', () =>
        platform().api('POST', '/api/admin/features-batch/import', whole.slice(0, whole.length / 2)),
      );
      expectRefusal(response, 400, 'ValidationError', '/body');
    });
  });
};
