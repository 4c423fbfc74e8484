import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CallContext, implement, serve, type Subscription } from '@bunting/bus';
import {
  AddProjectEnvironment,
  CreateEnvironment,
  EndEnvironmentAccess,
  type ExportedFeatures,
  GetFeature,
  type ImportFeaturesBody,
  ImportFeatures,
  ListFeatures,
  type Permission,
  ProposeImport,
  refusal,
  type RequestOf,
  SetProtection,
  unavailable,
  ValidateImport,
} from '@bunting/contracts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { mia, callerWith } from '../../test/started-features.ts';
import { submitImportProposals } from '../housekeeping/background.ts';
import { submitImportProposal, type SubmitImportProposal } from './endpoints.ts';

// The service without housekeeping, a change requests service that replies as a test specifies, and a gateway.
type Proposal = RequestOf<typeof ProposeImport>['body'];
let features: FeaturesWithoutLoops;
let submit: SubmitImportProposal;
let requests: Subscription;
let proposals: Proposal[] = [];
let errors: string[] = [];
const logError = (message: string) => void errors.push(message);
/** the outcomes of the next calls, in order; further calls succeed */
let mishaps: (() => unknown)[] = [];
beforeAll(async () => {
  features = await featuresWithoutLoops();
  submit = submitImportProposal(features.bus, features.transaction);
  const answered = implement(ProposeImport, async ({ body }) => {
    proposals.push(body);
    mishaps.shift()?.();
    return { id: 31 };
  });
  requests = await serve(features.bus, [answered, implement(EndEnvironmentAccess, async () => null)]);
  await features.call(CreateEnvironment, { body: { name: 'staging', type: 'test' } });
  const params = { projectId: 'default' };
  await features.call(AddProjectEnvironment, { params, body: { environment: 'staging' } });
});
let version = 0;
const protect = (environment: string, isProtected: boolean) =>
  features.call(SetProtection, { body: { project: 'default', environment, isProtected, version: ++version } });
beforeEach(async () => {
  await features.database.transaction(({ query }) =>
    query('truncate feature, segment, tag, outbox, import_proposal cascade'),
  );
  proposals = [];
  errors = [];
  mishaps = [];
  await protect('production', true);
});
afterAll(async () => {
  await requests.stop();
  await features.stop();
});

const permissions: readonly Permission[] = ['CREATE_FEATURE', 'UPDATE_FEATURE'];
/** A caller who may import, but neither write strategies nor skip change requests. */
const kim = callerWith(...permissions.map((permission) => ({ permission })));

const bringIn = (
  data: ExportedFeatures,
  about: Partial<ImportFeaturesBody> = {},
  caller = kim,
  more: Partial<CallContext> = {},
) => {
  const body = { project: 'default', environment: 'production', data, ...about };
  return features.call(ImportFeatures, { body }, caller, more);
};
const get = (featureName: string) => features.call(GetFeature, { params: { projectId: 'default', featureName } });
const inProduction = async (name: string) =>
  (await get(name)).environments?.find((environment) => environment.name === 'production');
const emitted = async () => {
  const text = "select type, payload ->> 'createdBy' as by from outbox where topic = 'event' order by id";
  return (await features.database.read<{ type: string }>({ text })).map(({ type }) => type);
};

const strategy = (featureName: string, more: object = {}) => ({
  featureName,
  name: 'flexibleRollout',
  parameters: { rollout: '5', stickiness: 'default', groupId: featureName },
  ...more,
});
/** A feature that is enabled for five percent of users, with a variant and a tag. */
const checkout: ExportedFeatures = {
  features: [{ name: 'checkout', description: 'as in the file' }],
  featureStrategies: [strategy('checkout')],
  featureEnvironments: [
    {
      featureName: 'checkout',
      environment: 'production',
      enabled: true,
      variants: [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }],
    },
  ],
  featureTags: [{ featureName: 'checkout', tagType: 'simple', tagValue: 'payments' }],
  tagTypes: [{ name: 'simple' }],
};

describe('an import into a protected environment', () => {
  it('creates, updates and tags features, and proposes their strategies in a protected environment', async () => {
    const reply = await bringIn(checkout);
    expect(reply).toMatchObject({
      created: 1,
      tags: 1,
      skipped: [],
      changeRequest: { id: 31, environment: 'production', changes: 3 },
    });
    expect(await get('checkout')).toMatchObject({
      description: 'as in the file',
      tags: [{ type: 'simple', value: 'payments' }],
    });
    expect(await inProduction('checkout')).toMatchObject({ enabled: false, strategies: [], variantCount: 0 });
    expect(await emitted()).toEqual(['tag-created', 'feature-created', 'feature-tagged', 'features-imported']);
    expect(proposals).toMatchObject([
      {
        project: 'default',
        environment: 'production',
        title: 'Import of 1 feature',
        by: { id: 3, name: 'kim' },
        changes: [
          {
            action: 'addStrategy',
            feature: 'checkout',
            snapshot: null,
            payload: { name: 'flexibleRollout', parameters: { rollout: '5' } },
          },
          {
            action: 'patchVariant',
            payload: { variants: [{ name: 'blue', weight: 1000 }] },
            snapshot: { variants: [] },
          },
          { action: 'updateEnabled', payload: { enabled: true }, snapshot: { enabled: false } },
        ],
      },
    ]);
  });

  it('proposes to replace the strategies of an existing feature, with snapshots of them', async () => {
    await bringIn(checkout, {}, mia);
    const before = (await inProduction('checkout'))?.strategies?.[0];
    await bringIn({ ...checkout, featureStrategies: [strategy('checkout', { title: 'Other' })] });
    expect(proposals).toMatchObject([
      {
        changes: [
          { action: 'deleteStrategy', payload: { id: before?.id }, snapshot: { id: before?.id } },
          { action: 'addStrategy', payload: { title: 'Other' } },
        ],
      },
    ]);
    expect((await inProduction('checkout'))?.strategies).toEqual([before]);
  });

  it('proposes nothing for features that are equal to the file', async () => {
    await bringIn(checkout, {}, mia);
    expect(await bringIn(checkout)).not.toHaveProperty('changeRequest');
    expect(proposals).toEqual([]);
  });

  it('makes all edits of an import with SKIP_CHANGE_REQUEST', async () => {
    const grants = [...permissions, 'SKIP_CHANGE_REQUEST' as const, 'CREATE_FEATURE_STRATEGY' as const];
    const trusted = callerWith(
      ...[...grants, 'UPDATE_FEATURE_ENVIRONMENT' as const, 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS' as const].map(
        (permission) => ({ permission }),
      ),
    );
    expect(await bringIn(checkout, {}, trusted)).not.toHaveProperty('changeRequest');
    expect(await inProduction('checkout')).toMatchObject({ enabled: true });
  });

  it('proposes neither a full rollout nor a default strategy that the file does not have', async () => {
    const data: ExportedFeatures = {
      features: [{ name: 'nameless' }, { name: 'sleeping' }],
      featureStrategies: [
        { featureName: 'nameless', name: 'flexibleRollout', parameters: {} },
        strategy('sleeping', { disabled: true }),
      ],
      featureEnvironments: [{ featureName: 'sleeping', environment: 'production', enabled: true }],
      tagTypes: [],
    };
    expect(await bringIn(data)).toMatchObject({ skipped: [{ feature: 'sleeping' }] });
    expect(proposals[0]?.changes).toMatchObject([
      { action: 'addStrategy', feature: 'nameless', payload: { parameters: { rollout: '0' } } },
      { action: 'addStrategy', feature: 'sleeping', payload: { disabled: true } },
    ]);
  });

  it('proposes dependencies if any environment of the project is protected', async () => {
    const data: ExportedFeatures = {
      features: [{ name: 'parent' }, { name: 'child' }],
      featureStrategies: [strategy('child')],
      dependencies: [{ feature: 'child', dependencies: [{ feature: 'parent' }] }],
      tagTypes: [],
    };
    const writer = callerWith(
      ...[...permissions, 'CREATE_FEATURE_STRATEGY' as const].map((permission) => ({ permission })),
    );
    expect(await bringIn(data, { environment: 'staging' }, writer)).toMatchObject({
      changeRequest: { environment: 'production', changes: 1 },
    });
    expect(proposals).toMatchObject([
      {
        environment: 'production',
        changes: [{ action: 'addDependency', feature: 'child', payload: { feature: 'parent', enabled: true } }],
      },
    ]);
    const { environments, dependencies } = await get('child');
    expect(dependencies).toEqual([]);
    expect(environments?.find(({ name }) => name === 'staging')?.strategies).toHaveLength(1);
  });
});

describe('the proposal of an import', () => {
  it('submits a stored proposal once the change requests service is back', async () => {
    mishaps = [
      () => {
        throw unavailable('The change requests service is down.');
      },
    ];
    const { changeRequest } = await bringIn(checkout);
    expect(changeRequest).toEqual({ environment: 'production', changes: 3 });
    await submitImportProposals(features.transaction, submit, logError);
    await submitImportProposals(features.transaction, submit, logError);
    expect(proposals).toHaveLength(2);
    expect(new Set(proposals.map(({ importId }) => importId)).size).toBe(1);
    expect(await features.database.read({ text: 'select from import_proposal' })).toEqual([]);
  });

  it('gives up a proposal that is refused, with an error for operators, and submits later ones', async () => {
    const fails = () => {
      throw unavailable('The change requests service is down.');
    };
    mishaps = [fails, fails];
    await bringIn(checkout);
    await bringIn({ features: [{ name: 'later' }], featureStrategies: [strategy('later')], tagTypes: [] });
    proposals = [];
    mishaps = [
      () => {
        throw refusal('PayloadTooLarge', 'More than the message bus carries.');
      },
    ];
    await submitImportProposals(features.transaction, submit, logError);
    expect(proposals.map(({ changes }) => changes[0]?.feature)).toEqual(['checkout', 'later']);
    expect(await features.database.read({ text: 'select from import_proposal' })).toEqual([]);
    expect(errors).toEqual([
      expect.stringContaining('into production of project default, with 3 changes, was refused and is given up: More'),
    ]);
  });

  it('submits a proposal again after a defect, and later ones in the meantime', async () => {
    const fails = () => {
      throw unavailable('The change requests service is down.');
    };
    mishaps = [fails, fails];
    await bringIn(checkout);
    await bringIn({ features: [{ name: 'later' }], featureStrategies: [strategy('later')], tagTypes: [] });
    proposals = [];
    mishaps = [
      () => {
        throw new Error('a defect');
      },
    ];
    await expect(submitImportProposals(features.transaction, submit, logError)).rejects.toMatchObject({
      kind: 'InternalError',
    });
    expect(proposals.map(({ changes }) => changes[0]?.feature)).toEqual(['checkout', 'later']);
    expect(await features.database.read({ text: 'select from import_proposal' })).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it('creates one change request for a repeated import with the same Idempotency-Key', async () => {
    const once = { idempotencyKey: 'import-1' };
    const first = await bringIn(checkout, {}, kim, once);
    expect(await bringIn(checkout, {}, kim, once)).toEqual(first);
    expect(proposals).toHaveLength(1);
  });

  const nothingIsDone = async () => {
    const listed = await features.call(ListFeatures, { params: { projectId: 'default' } });
    expect(listed.features).toEqual([]);
    expect(proposals).toEqual([]);
    expect(await emitted()).toEqual([]);
  };

  it('refuses an import with more changes than a change request can hold', async () => {
    const names = Array.from({ length: 501 }, (_, nth) => `feature-${nth}`);
    const data: ExportedFeatures = {
      features: names.map((name) => ({ name })),
      tagTypes: [],
      featureStrategies: names.map((name) => strategy(name)),
    };
    await expect(bringIn(data)).rejects.toMatchObject({
      kind: 'ExceedsLimitError',
      message: expect.stringContaining('501 changes'),
    });
    await nothingIsDone();
  });

  it('refuses an import whose proposal exceeds a message', async () => {
    const names = Array.from({ length: 12 }, (_, nth) => `feature-${nth}`);
    const values = Array.from({ length: 250 }, (_, nth) => `${'v'.repeat(90)}${nth}`);
    const constraints = Array.from({ length: 30 }, () => ({ contextName: 'userId', operator: 'IN' as const, values }));
    const data: ExportedFeatures = {
      features: names.map((name) => ({ name })),
      tagTypes: [],
      featureStrategies: names.map((name) => ({ ...strategy(name), constraints })),
    };
    await expect(bringIn(data)).rejects.toMatchObject({
      kind: 'ExceedsLimitError',
      message: expect.stringContaining('more than 8388608 bytes'),
    });
    await nothingIsDone();
  });

  it('refuses an import with a proposal to callers who may not propose changes', async () => {
    await expect(bringIn(checkout, {}, { ...kim, proposalDeniedProjects: ['default'] })).rejects.toMatchObject({
      kind: 'NoAccessError',
    });
    await nothingIsDone();
  });

  it('refuses an import with an invalid change and names the feature', async () => {
    const data = {
      ...checkout,
      features: [...checkout.features, { name: 'parent' }],
      dependencies: [{ feature: 'checkout', dependencies: [{ feature: 'parent', variants: ['none'] }] }],
      featureEnvironments: [
        {
          featureName: 'parent',
          enabled: false,
          variants: [{ name: 'some', weight: 1000, weightType: 'variable' as const, stickiness: 'default' }],
        },
      ],
    };
    const refused = {
      kind: 'ValidationError',
      details: [{ path: expect.stringMatching(/^\/body\/data\/features\/0\b/) }],
    };
    await expect(bringIn(data)).rejects.toMatchObject(refused);
    await nothingIsDone();
  });

  it('is announced by the validation of the import, without missing permissions', async () => {
    const body = { project: 'default', environment: 'production', data: checkout };
    const { errors, warnings, permissions: lacking } = await features.call(ValidateImport, { body }, kim);
    expect({ errors, lacking }).toEqual({ errors: [], lacking: [] });
    expect(warnings).toEqual([{ message: expect.stringContaining('change request'), affectedItems: ['checkout'] }]);
  });
});
