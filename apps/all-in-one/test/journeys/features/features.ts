import { Feature, FeatureWithoutEnvironments, newFeatureMetadata, type ProjectFeatures } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectFits,
  expectRefusal,
  imageUrl,
  timestamp,
  uuid,
  featurePath,
  platformClient,
} from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';

/** Reading, creating, enabling and archiving a feature. */
export const describeFeatures = (platform: () => Platform): void => {
  describe('a feature', () => {
    const project = 'features';
    const client = () => platformClient(platform().api);
    const get = (feature: string, of = project) => platform().api<Feature>('GET', featurePath(of, feature));

    beforeAll(async () => {
      await client().createProject(project);
      await client().createProject('features-other');
    });

    it('has every property of the interface', async () => {
      const segment = await client().createSegment({ name: 'features-segment' });
      const created = await client().createFeature(project, 'features-whole', {
        type: 'kill-switch',
        description: 'Stops the presses.',
        impressionData: true,
      });
      expectFits(FeatureWithoutEnvironments, created);
      const address = featurePath(project, 'features-whole');
      await client().addTag('features-whole', 'simple', 'whole');
      await client().addStrategy(address, 'production', {
        title: 'One in ten',
        parameters: { rollout: '10' },
        segments: [segment.id],
        constraints: [{ contextName: 'userId', operator: 'NUM_GTE', value: '5' }],
      });
      await client().toggle(address, 'production', 'on');

      const { status, body } = await get('features-whole');
      const me = { id: -42, name: expect.any(String), imageUrl };
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          ...newFeatureMetadata,
          name: 'features-whole',
          type: 'kill-switch',
          description: 'Stops the presses.',
          archived: false,
          archivedAt: null,
          project,
          enabled: true,
          stale: false,
          favorite: false,
          impressionData: true,
          createdAt: timestamp,
          createdBy: me,
          lastSeenAt: null,
          environments: [
            {
              name: 'development',
              featureName: 'features-whole',
              environment: 'development',
              type: 'development',
              enabled: false,
              sortOrder: expect.any(Number),
              variantCount: 0,
              strategies: [],
              lastSeenAt: null,
              hasStrategies: false,
              hasEnabledStrategies: false,
              yes: 0,
              no: 0,
            },
            {
              name: 'production',
              featureName: 'features-whole',
              environment: 'production',
              type: 'production',
              enabled: true,
              sortOrder: expect.any(Number),
              variantCount: 0,
              strategies: [
                {
                  id: uuid,
                  name: 'flexibleRollout',
                  title: 'One in ten',
                  disabled: false,
                  sortOrder: 0,
                  segments: [segment.id],
                  constraints: [
                    {
                      contextName: 'userId',
                      operator: 'NUM_GTE',
                      value: '5',
                      values: [],
                      inverted: false,
                      caseInsensitive: false,
                    },
                  ],
                  variants: [],
                  parameters: { rollout: '10', stickiness: 'default', groupId: 'features-whole' },
                },
              ],
              lastSeenAt: null,
              hasStrategies: true,
              hasEnabledStrategies: true,
              yes: 0,
              no: 0,
            },
          ],
          variants: [],
          strategies: [],
          tags: [{ type: 'simple', value: 'whole' }],
          children: [],
          lifecycle: { stage: 'initial', enteredStageAt: timestamp },
          dependencies: [],
          links: [],
          collaborators: { users: [me] },
        },
      });
      expectFits(Feature, body);
    });

    it('belongs to one project, and its name is case-sensitive', async () => {
      await client().createFeature(project, 'features-Case');
      expectRefusal(await get('features-case'), 404, 'NotFoundError', 'features-case');
      expectRefusal(await get('features-Case', 'features-other'), 404, 'NotFoundError', 'features-Case');
      expectRefusal(await get('features-Case', 'features-nowhere'), 404, 'NotFoundError', 'features-Case');
    });

    const createNamed = (name: string) => platform().api('POST', `/api/admin/projects/${project}/features`, { name });

    it.each([
      ['100 characters', 'n'.repeat(100)],
      ['signs that need no escape in a URL', "features~_-.!*'()"],
    ])('may have a name of %s', async (_what, name) => {
      expect((await createNamed(name)).status).toBe(201);
      expect((await get(encodeURIComponent(name))).status).toBe(200);
    });

    it.each([
      ['of 101 characters', 'n'.repeat(101)],
      ['with a blank', 'features a'],
      ['with a slash', 'features/a'],
      ['with letters beyond ASCII', 'features-ü'],
      ['without characters', ''],
      ['of dots alone', '..'],
    ])('is refused with a name %s', async (_what, name) => {
      expectRefusal(await createNamed(name), 400, 'ValidationError', 'name');
    });

    it('has a unique name, also among archived features', async () => {
      await client().createFeature(project, 'features-taken');
      const again = () =>
        platform().api('POST', '/api/admin/projects/features-other/features', { name: 'features-taken' });
      expectRefusal(await again(), 409, 'NameExistsError', 'A flag with that name already exists');
      await client().archive(featurePath(project, 'features-taken'));
      expectRefusal(await again(), 409, 'NameExistsError', 'An archived flag with that name already exists');
    });

    it('is listed in its project until it is archived', async () => {
      await client().createProject('features-listed');
      for (const name of ['features-l2', 'features-l1', 'features-l3'])
        await client().createFeature('features-listed', name);
      await client().archive(featurePath('features-listed', 'features-l3'));
      const { body } = await platform().api<ProjectFeatures>('GET', '/api/admin/projects/features-listed/features');
      expect(body.version).toBe(2);
      expect(body.features.map(({ name }) => name)).toEqual(['features-l1', 'features-l2']);
      expectRefusal(await get('features-l3', 'features-listed'), 404, 'NotFoundError', 'features-l3');
    });

    it('gets one default strategy when it is turned on without strategies', async () => {
      await client().createFeature(project, 'features-on');
      const address = featurePath(project, 'features-on');
      await client().toggle(address, 'development', 'on');
      await client().toggle(address, 'development', 'on');
      const { environments } = await client().getFeature(address);
      expect(environments?.[0]).toMatchObject({
        enabled: true,
        strategies: [
          {
            name: 'flexibleRollout',
            disabled: false,
            parameters: { rollout: '100', stickiness: 'default', groupId: 'features-on' },
          },
        ],
      });
      expect(environments?.[1]).toMatchObject({ enabled: false, strategies: [] });
      expect(await client().eventTypes({ feature: 'features-on' })).toEqual([
        'feature-created',
        'feature-strategy-add',
        'feature-environment-enabled',
      ]);
    });

    it('can be turned on by activation of its disabled strategies instead', async () => {
      await client().createFeature(project, 'features-activated');
      const address = featurePath(project, 'features-activated');
      await client().addStrategy(address, 'development', { disabled: true, title: 'Asleep' });
      const on = `${address}/environments/development/on?shouldActivateDisabledStrategies=true`;
      expect((await platform().api('POST', on)).status).toBe(200);
      const { environments } = await client().getFeature(address);
      expect(environments?.[0]).toMatchObject({ enabled: true, strategies: [{ title: 'Asleep', disabled: false }] });
    });

    it('cannot be turned on when it is archived, or in an environment outside its project', async () => {
      await client().createFeature(project, 'features-off');
      const address = featurePath(project, 'features-off');
      expectRefusal(
        await platform().api('POST', `${address}/environments/nowhere/on`),
        404,
        'NotFoundError',
        'nowhere',
      );
      await client().archive(address);
      expectRefusal(
        await platform().api('POST', `${address}/environments/development/on`),
        400,
        'ArchivedFeatureError',
      );
    });
  });
};
