import type { ChangeRequest, FeatureStrategy, Segment } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { featurePath, platformClient } from '../../support/platform-client.ts';
import type { Platform } from '../../support/platform.ts';

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
      const patch = [
        { op: 'replace', path: '/parameters/rollout', value: 25 },
        { op: 'add', path: '/constraints/-', value: { contextName: 'userId', operator: 'NUM_LT', value: 99 } },
      ];
      expect(await expectSuccess('PATCH', `${strategies}/${id}`, patch)).toMatchObject({
        parameters: { rollout: '25' },
        constraints: [...stored.constraints, { operator: 'NUM_LT', value: '99' }],
      });
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
