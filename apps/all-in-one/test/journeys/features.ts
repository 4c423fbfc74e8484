import { Feature, FeatureWithoutEnvironments, type ProjectFeatures } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectFits, expectRefusal, imageUrl, timestamp, uuid } from '../expectations.ts';
import { addressOf, onPlatform } from '../given.ts';
import type { Platform } from '../platform.ts';

/** Reading, creating, enabling and archiving a feature. */
export const describeFeatures = (platform: () => Platform): void => {
  describe('a feature', () => {
    const project = 'features';
    const given = () => onPlatform(platform().api);
    const get = (feature: string, of = project) => platform().api<Feature>('GET', addressOf(of, feature));

    beforeAll(async () => {
      await given().createProject(project);
      await given().createProject('features-other');
    });

    it('has every property of the interface', async () => {
      const segment = await given().createSegment({ name: 'features-segment' });
      const created = await given().createFeature(project, 'features-whole', {
        type: 'kill-switch',
        description: 'Stops the presses.',
        impressionData: true,
      });
      expectFits(FeatureWithoutEnvironments, created);
      const address = addressOf(project, 'features-whole');
      await given().addTag('features-whole', 'simple', 'whole');
      await given().addStrategy(address, 'production', {
        title: 'One in ten',
        parameters: { rollout: '10' },
        segments: [segment.id],
        constraints: [{ contextName: 'userId', operator: 'NUM_GTE', value: '5' }],
      });
      await given().toggle(address, 'production', 'on');

      const { status, body } = await get('features-whole');
      const me = { id: -42, name: expect.any(String), imageUrl };
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          name: 'features-whole',
          type: 'kill-switch',
          description: 'Stops the presses.',
          archived: false,
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
      await given().createFeature(project, 'features-Case');
      expectRefusal(await get('features-case'), 404, 'NotFoundError', 'features-case');
      expectRefusal(await get('features-Case', 'features-other'), 404, 'NotFoundError', 'features-Case');
      expectRefusal(await get('features-Case', 'features-nowhere'), 404, 'NotFoundError', 'features-Case');
    });

    it.each([
      ['100 characters', 'n'.repeat(100), 201],
      ['101 characters', 'n'.repeat(101), 400],
      ['every plain sign', "features~_-.!*'()", 201],
      ['a blank', 'features a', 400],
      ['a slash', 'features/a', 400],
      ['letters beyond ASCII', 'features-ü', 400],
      ['nothing', '', 400],
      ['dots alone', '..', 400],
    ])('refuses a name that needs escaping in a URL: %s', async (_what, name, expected) => {
      const answer = await platform().api('POST', `/api/admin/projects/${project}/features`, { name });
      expect(answer.status).toBe(expected);
      if (expected === 400) expectRefusal(answer, 400, 'ValidationError', 'name');
      else expect((await get(encodeURIComponent(name))).status).toBe(200);
    });

    it('has a unique name, also among archived features', async () => {
      await given().createFeature(project, 'features-taken');
      const again = () =>
        platform().api('POST', '/api/admin/projects/features-other/features', { name: 'features-taken' });
      expectRefusal(await again(), 409, 'NameExistsError', 'A flag with that name already exists');
      await given().archive(addressOf(project, 'features-taken'));
      expectRefusal(await again(), 409, 'NameExistsError', 'An archived flag with that name already exists');
    });

    it('is listed in its project until it is archived', async () => {
      await given().createProject('features-listed');
      for (const name of ['features-l2', 'features-l1', 'features-l3'])
        await given().createFeature('features-listed', name);
      await given().archive(addressOf('features-listed', 'features-l3'));
      const { body } = await platform().api<ProjectFeatures>('GET', '/api/admin/projects/features-listed/features');
      expect(body.version).toBe(2);
      expect(body.features.map(({ name }) => name)).toEqual(['features-l1', 'features-l2']);
      expectRefusal(await get('features-l3', 'features-listed'), 404, 'NotFoundError', 'features-l3');
    });

    it('gets one default strategy when it is turned on without strategies', async () => {
      await given().createFeature(project, 'features-on');
      const address = addressOf(project, 'features-on');
      await given().toggle(address, 'development', 'on');
      await given().toggle(address, 'development', 'on');
      const { environments } = await given().getFeature(address);
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
      expect(await given().eventTypes({ feature: 'features-on' })).toEqual([
        'feature-created',
        'feature-strategy-add',
        'feature-environment-enabled',
      ]);
    });

    it('can be turned on by activation of its disabled strategies instead', async () => {
      await given().createFeature(project, 'features-activated');
      const address = addressOf(project, 'features-activated');
      await given().addStrategy(address, 'development', { disabled: true, title: 'Asleep' });
      const on = `${address}/environments/development/on?shouldActivateDisabledStrategies=true`;
      expect((await platform().api('POST', on)).status).toBe(200);
      const { environments } = await given().getFeature(address);
      expect(environments?.[0]).toMatchObject({ enabled: true, strategies: [{ title: 'Asleep', disabled: false }] });
    });

    it('cannot be turned on when it is archived, or in an environment outside its project', async () => {
      await given().createFeature(project, 'features-off');
      const address = addressOf(project, 'features-off');
      expectRefusal(
        await platform().api('POST', `${address}/environments/nowhere/on`),
        404,
        'NotFoundError',
        'nowhere',
      );
      await given().archive(address);
      expectRefusal(
        await platform().api('POST', `${address}/environments/development/on`),
        400,
        'ArchivedFeatureError',
      );
    });
  });
};
