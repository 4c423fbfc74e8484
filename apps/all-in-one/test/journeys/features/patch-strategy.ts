import { FeatureStrategy } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectFits, expectRefusal, uuid, featurePath, platformClient } from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

/** Patching a strategy. */
export const describePatchStrategy = (platform: () => Platform): void => {
  describe('a patch of a strategy', () => {
    const project = 'patch';
    const client = () => platformClient(platform().api);
    const patch = (feature: string, id: string | undefined, body: unknown, headers?: Record<string, string>) =>
      platform().api<FeatureStrategy>(
        'PATCH',
        `${featurePath(project, feature)}/environments/development/strategies/${id}`,
        body,
        headers,
      );
    /** Creates a feature for one test, with one strategy. */
    const strategyOf = async (feature: string, strategy: Partial<FeatureStrategy> = {}): Promise<string> => {
      await client().createFeature(project, feature);
      const { id } = await client().addStrategy(featurePath(project, feature), 'development', strategy);
      return id as string;
    };

    beforeAll(async () => {
      await client().createProject(project);
    });

    it('returns the whole strategy with every property of the interface', async () => {
      const id = await strategyOf('patch-whole', {
        title: 'Everyone',
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['ann'] }],
        variants: [{ name: 'only', weight: 1000, weightType: 'variable', stickiness: 'default' }],
      });
      const { status, body } = await patch('patch-whole', id, [
        { op: 'replace', path: '/title', value: 'Half of Oslo' },
        { op: 'replace', path: '/parameters/rollout', value: '50' },
        {
          op: 'add',
          path: '/constraints/-',
          value: { contextName: 'appName', operator: 'STR_ENDS_WITH', values: ['b'] },
        },
      ]);
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          id,
          name: 'flexibleRollout',
          title: 'Half of Oslo',
          disabled: false,
          sortOrder: 0,
          segments: [],
          constraints: [
            { contextName: 'userId', operator: 'IN', values: ['ann'], inverted: false, caseInsensitive: false },
            {
              contextName: 'appName',
              operator: 'STR_ENDS_WITH',
              values: ['b'],
              inverted: false,
              caseInsensitive: false,
            },
          ],
          variants: [{ name: 'only', weight: 1000, weightType: 'variable', stickiness: 'default' }],
          parameters: { rollout: '50', stickiness: 'default', groupId: 'patch-whole' },
        },
      });
      expect(id).toEqual(uuid);
      expectFits(FeatureStrategy, body);
      const { environments } = await client().getFeature(featurePath(project, 'patch-whole'));
      expect(environments?.find(({ name }) => name === 'development')?.strategies).toEqual([body]);
    });

    it('supports add, remove, replace, copy and move', async () => {
      const id = await strategyOf('patch-operations', { parameters: { rollout: '10', a: 'A', b: 'B' } });
      const { body } = await patch('patch-operations', id, [
        { op: 'add', path: '/parameters/c', value: 'C' },
        { op: 'copy', from: '/parameters/a', path: '/parameters/d' },
        { op: 'move', from: '/parameters/b', path: '/parameters/e' },
        { op: 'remove', path: '/parameters/a' },
        { op: 'replace', path: '/disabled', value: true },
      ]);
      expect(body.parameters).toMatchObject({ rollout: '10', c: 'C', d: 'A', e: 'B' });
      expect(Object.keys(body.parameters ?? {})).not.toEqual(expect.arrayContaining(['a']));
      expect(Object.keys(body.parameters ?? {})).not.toEqual(expect.arrayContaining(['b']));
      expect(body.disabled).toBe(true);
    });

    it('changes nothing when it is empty', async () => {
      const id = await strategyOf('patch-empty', { title: 'As it was' });
      const before = await client().getFeature(featurePath(project, 'patch-empty'));
      const { status, body } = await patch('patch-empty', id, []);
      expect({ status, title: body.title }).toEqual({ status: 200, title: 'As it was' });
      const after = await client().getFeature(featurePath(project, 'patch-empty'));
      expect(after.environments).toEqual(before.environments);
    });

    it('distributes the weight among variable variants, and sorts them by name', async () => {
      const id = await strategyOf('patch-variants');
      const variable = (name: string) => ({ name, weight: 1, weightType: 'variable', stickiness: 'default' });
      const weights = async (variants: readonly object[]) => {
        const { body } = await patch('patch-variants', id, [{ op: 'replace', path: '/variants', value: variants }]);
        return body.variants?.map(({ name, weight }) => [name, weight]);
      };
      expect(await weights([variable('b'), variable('a'), variable('c')])).toEqual([
        ['a', 333],
        ['b', 334],
        ['c', 333],
      ]);
      const fixed = { name: 'f', weight: 333, weightType: 'fix', stickiness: 'default' };
      expect(await weights([fixed, variable('c'), variable('b'), variable('a')])).toEqual([
        ['a', 222],
        ['b', 222],
        ['c', 223],
        ['f', 333],
      ]);
    });

    it('attaches segments and detaches them', async () => {
      const id = await strategyOf('patch-segments');
      const segment = await client().createSegment({ name: 'patch-segment' });
      const set = (value: readonly number[]) =>
        patch('patch-segments', id, [{ op: 'replace', path: '/segments', value }]);
      expect((await set([segment.id])).body.segments).toEqual([segment.id]);
      expectRefusal(await set([2_000_000_000]), 404, 'NotFoundError', '2000000000');
      expect((await set([])).body.segments).toEqual([]);
    });

    it('turns the environment off when it disables the last enabled strategy, and emits both events in order', async () => {
      const id = await strategyOf('patch-last');
      const address = featurePath(project, 'patch-last');
      await client().toggle(address, 'development', 'on');
      await patch('patch-last', id, [{ op: 'replace', path: '/disabled', value: true }]);
      const { environments } = await client().getFeature(address);
      expect(environments?.find(({ name }) => name === 'development')?.enabled).toBe(false);
      expect((await client().eventTypes({ feature: 'patch-last' })).slice(-2)).toEqual([
        'feature-strategy-update',
        'feature-environment-disabled',
      ]);
    });

    it.each<[string, readonly object[], string]>([
      ['an unknown property', [{ op: 'add', path: '/bogus', value: 1 }], 'bogus'],
      ['a strategy without a name', [{ op: 'remove', path: '/name' }], 'name'],
      ['a strategy of an unknown type', [{ op: 'replace', path: '/name', value: 'nosuch' }], 'nosuch'],
      ['a title that is no text', [{ op: 'replace', path: '/title', value: 7 }], 'title'],
      ['no text for a parameter', [{ op: 'replace', path: '/parameters/rollout', value: null }], 'rollout'],
      ['an unknown operation', [{ op: 'test', path: '/title', value: null }], '/body/0/op'],
      ['an operation without a path', [{ op: 'add', value: 1 }], '/body/0/path'],
      ['a path through nothing', [{ op: 'add', path: '/a/b/c', value: 1 }], '/a/b/c'],
      ['a path through no variant', [{ op: 'replace', path: '/variants/3/weight', value: 1 }], '/variants/3'],
      [
        'an unknown operator',
        [{ op: 'add', path: '/constraints/-', value: { contextName: 'userId', operator: 'REGEX', value: 'a' } }],
        'operator',
      ],
      [
        'a number that is none',
        [{ op: 'add', path: '/constraints/-', value: { contextName: 'userId', operator: 'NUM_EQ', value: 'abc' } }],
        'value',
      ],
      [
        'a version that is none',
        [{ op: 'add', path: '/constraints/-', value: { contextName: 'userId', operator: 'SEMVER_EQ', value: '1.x' } }],
        '1.x',
      ],
      [
        'a weight above the total',
        [
          {
            op: 'add',
            path: '/variants/-',
            value: { name: 'v', weight: 1001, weightType: 'variable', stickiness: 'default' },
          },
        ],
        '/variants/0/weight',
      ],
      [
        'variants that are all fixed',
        [
          {
            op: 'add',
            path: '/variants/-',
            value: { name: 'v', weight: 500, weightType: 'fix', stickiness: 'default' },
          },
        ],
        'variable',
      ],
    ])('is refused for %s, and changes nothing', async (fault, body, mentioned) => {
      const feature = `patch-no-${fault.replaceAll(' ', '-')}`;
      const id = await strategyOf(feature, { title: 'As it was' });
      const before = await platform().api('GET', featurePath(project, feature));
      // The first operation is valid: either all operations are applied, or none.
      const good = { op: 'replace', path: '/title', value: 'Changed' };
      const response = await patch(feature, id, mentioned.startsWith('/body/0') ? body : [good, ...body]);
      expectRefusal(response, 400, 'ValidationError', mentioned);
      expect((await platform().api('GET', featurePath(project, feature))).text).toBe(before.text);
      expect(await client().eventTypes({ feature, type: 'feature-strategy-update' })).toEqual([]);
    });

    it('returns 404 for a path whose parts do not belong together', async () => {
      const id = await strategyOf('patch-mine');
      await client().createProject('patch-other-project');
      await client().createFeature(project, 'patch-other-feature');
      await client().createFeature('patch-other-project', 'patch-foreign');
      const at = (where: string, feature: string, environment: string, strategyId: string) =>
        platform().api('PATCH', `${featurePath(where, feature)}/environments/${environment}/strategies/${strategyId}`, [
          { op: 'replace', path: '/title', value: 'Stolen' },
        ]);
      for (const response of [
        await at(project, 'patch-mine', 'production', id),
        await at(project, 'patch-mine', 'nowhere', id),
        await at(project, 'patch-other-feature', 'development', id),
        await at(project, 'patch-no-feature', 'development', id),
        await at('patch-other-project', 'patch-mine', 'development', id),
        await at('patch-other-project', 'patch-foreign', 'development', id),
        await at('patch-no-project', 'patch-mine', 'development', id),
        await at(project, 'patch-mine', 'development', '00000000-0000-4000-8000-000000000000'),
        await at(project, 'patch-mine', 'development', 'no-uuid'),
      ]) {
        expectRefusal(response, 404, 'NotFoundError');
      }
      const { environments } = await client().getFeature(featurePath(project, 'patch-mine'));
      const [strategy] = environments?.find(({ name }) => name === 'development')?.strategies ?? [];
      expect(strategy?.title).toBeNull();
    });

    it('is accepted as application/json only', async () => {
      const id = await strategyOf('patch-types');
      const send = (type: string | null) =>
        platform().api(
          'PATCH',
          `${featurePath(project, 'patch-types')}/environments/development/strategies/${id}`,
          [],
          {
            'content-type': type,
          },
        );
      expect((await send('application/json; charset=utf-8')).status).toBe(200);
      for (const type of ['application/json-patch+json', 'text/plain', 'application/x-www-form-urlencoded', null]) {
        expectRefusal(await send(type), 415, 'ContentTypeerror', 'application/json');
      }
    });
  });
};
