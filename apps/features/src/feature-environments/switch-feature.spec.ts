import type { StrategyProperties } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy, type FeatureAbout, someProjectContext, refusalOf } from '../../test/builders.ts';
import { disableFeature, enableFeature, needsDefaultStrategy } from './switch-feature.ts';
import { type Decision, inEnvironment } from '../features/feature.ts';

const projectContext = someProjectContext();
const on = aStrategy({ id: 'on', title: 'On' });
const off = aStrategy({ id: 'off', title: 'Off', disabled: true });

const enabled = (about: FeatureAbout, activateDisabled = false, context = projectContext): Decision =>
  enableFeature(aFeature(about), 'development', { activateDisabled, defaultStrategyId: 'new' }, context);

/** The resulting feature: whether it is on, its strategies, and its events. */
const outcome = ({ feature, events }: Decision) => {
  const { enabled: isOn, strategies } = inEnvironment(feature, 'development');
  return [
    isOn,
    strategies.map(({ id, disabled }) => (disabled ? `${id} (disabled)` : id)),
    events.map(({ type }) => type.replace('feature-', '')),
  ];
};

describe('a feature that is turned on', () => {
  it.each<[string, FeatureAbout, boolean, unknown[]]>([
    ['without strategies gets the default one', {}, false, [true, ['new'], ['strategy-add', 'environment-enabled']]],
    [
      'without strategies gets the default one, activated or not',
      {},
      true,
      [true, ['new'], ['strategy-add', 'environment-enabled']],
    ],
    [
      'with disabled strategies gets the default one as well',
      { strategies: [off] },
      false,
      [true, ['off (disabled)', 'new'], ['strategy-add', 'environment-enabled']],
    ],
    [
      'with disabled strategies can activate them',
      { strategies: [off] },
      true,
      [true, ['off'], ['strategy-update', 'environment-enabled']],
    ],
    [
      'with some disabled strategies can activate them',
      { strategies: [on, off] },
      true,
      [true, ['on', 'off'], ['strategy-update', 'environment-enabled']],
    ],
    [
      'with some disabled strategies keeps them so',
      { strategies: [on, off] },
      false,
      [true, ['on', 'off (disabled)'], ['environment-enabled']],
    ],
    ['with an active strategy gets nothing else', { strategies: [on] }, false, [true, ['on'], ['environment-enabled']]],
    ['a second time changes nothing', { strategies: [on], enabled: true }, false, [true, ['on'], []]],
    [
      'a second time can still activate strategies',
      { strategies: [on, off], enabled: true },
      true,
      [true, ['on', 'off'], ['strategy-update']],
    ],
    [
      'a second time gets an active strategy if it lacks one',
      { strategies: [off], enabled: true },
      false,
      [true, ['off (disabled)', 'new'], ['strategy-add']],
    ],
  ])('%s', (_, about, activateDisabled, expected) => {
    expect(outcome(enabled(about, activateDisabled))).toEqual(expected);
  });

  it('is the same feature when nothing changes', () => {
    const feature = aFeature({ strategies: [on], enabled: true });
    const enabling = { activateDisabled: true, defaultStrategyId: 'new' };
    expect(enableFeature(feature, 'development', enabling, projectContext).feature).toBe(feature);
  });

  it('emits that it is on in that environment', () => {
    const tags = [{ type: 'team', value: 'oslo' }];
    expect(enabled({ strategies: [on], tags }).events).toEqual([
      {
        type: 'feature-environment-enabled',
        project: 'shop',
        featureName: 'checkout',
        environment: 'development',
        tags,
      },
    ]);
  });

  it('emits activated strategies before and after', () => {
    expect(enabled({ strategies: [off] }, true).events[0]).toMatchObject({
      preData: off,
      data: { ...off, disabled: false },
    });
  });

  const theNew = (defaultStrategy?: StrategyProperties) => {
    const projectContext = someProjectContext({
      defaultStickiness: 'userId',
      defaultStrategies: { development: defaultStrategy },
    });
    return inEnvironment(enabled({ strategies: [off] }, false, projectContext).feature, 'development').strategies.at(
      -1,
    );
  };

  it('is on for everyone by default', () => {
    expect(theNew()).toEqual(
      aStrategy({
        id: 'new',
        name: 'flexibleRollout',
        sortOrder: 1,
        parameters: { rollout: '100', stickiness: 'userId', groupId: 'checkout' },
      }),
    );
  });

  it('gets the default strategy of its project and environment, after the others', () => {
    const parameters = { rollout: '5', stickiness: 'sessionId', groupId: 'ours' };
    const strategy = { name: 'flexibleRollout', title: 'Few', parameters, sortOrder: -7 };
    expect(theNew(strategy)).toEqual(
      aStrategy({ id: 'new', name: 'flexibleRollout', title: 'Few', sortOrder: 1, parameters }),
    );
    expect(theNew({ ...strategy, parameters: { ...parameters, groupId: '' } })?.parameters).toEqual({
      ...parameters,
      groupId: 'checkout',
    });
  });

  it('gets an active strategy even if the default one is disabled', () => {
    expect(theNew({ name: 'default', disabled: true })).toMatchObject({ disabled: false });
  });

  it('needs the default strategy only when no strategy of it would be active', () => {
    const needs = (about: FeatureAbout, activate: boolean) =>
      needsDefaultStrategy(aFeature(about), 'development', activate);
    expect([needs({}, false), needs({}, true), needs({ strategies: [off] }, false)]).toEqual([true, true, true]);
    expect([needs({ strategies: [off] }, true), needs({ strategies: [on, off] }, false)]).toEqual([false, false]);
  });

  it('can be turned on in an environment without settings', () => {
    const enabling = { activateDisabled: false, defaultStrategyId: 'new' };
    const { feature } = enableFeature(aFeature(), 'production', enabling, projectContext);
    expect(inEnvironment(feature, 'production')).toMatchObject({ enabled: true, strategies: [{ id: 'new' }] });
    expect(inEnvironment(feature, 'development').enabled).toBe(false);
  });
});

describe('a feature that is turned off', () => {
  it('keeps its strategies', () => {
    const decision = disableFeature(aFeature({ strategies: [on], enabled: true }), 'development', projectContext);
    expect(outcome(decision)).toEqual([false, ['on'], ['environment-disabled']]);
    expect(decision.events).toEqual([
      {
        type: 'feature-environment-disabled',
        project: 'shop',
        featureName: 'checkout',
        environment: 'development',
        tags: [],
      },
    ]);
  });

  it('stays the same the second time, and emits nothing', () => {
    const feature = aFeature();
    expect(disableFeature(feature, 'development', projectContext)).toEqual({ feature, events: [] });
    expect(disableFeature(feature, 'production', projectContext).feature).toBe(feature);
  });
});

describe.each([
  [
    'on',
    (about: FeatureAbout, environment: string) =>
      enableFeature(
        aFeature(about),
        environment,
        { activateDisabled: false, defaultStrategyId: 'new' },
        projectContext,
      ),
  ],
  ['off', (about: FeatureAbout, environment: string) => disableFeature(aFeature(about), environment, projectContext)],
])('a feature cannot be turned %s', (_, turn) => {
  it('when it is archived', () => {
    expect(refusalOf(() => turn({ archivedAt: '2026-02-01T00:00:00.000Z' }, 'development'))).toMatchObject({
      kind: 'ArchivedFeatureError',
      message: 'Cannot perform this operation on archived features',
    });
  });

  it.each(['staging', '__proto__', 'toString'])(
    'in an environment that its project does not have: %s',
    (environment) => {
      expect(refusalOf(() => turn({}, environment))).toMatchObject({
        kind: 'NotFoundError',
        message: `Could not find environment ${environment} for feature: checkout`,
      });
    },
  );
});
