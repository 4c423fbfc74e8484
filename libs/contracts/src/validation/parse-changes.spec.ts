import { describe, expect, it } from 'vitest';
import { Refusal } from '../errors.ts';
import { type ChangeAction, ChangesBody, changeActions, changeSchemas, maxProposedChanges } from '../changes/change.ts';
import { matchesSchema } from './parse.ts';
import { parseChanges } from './parse-changes.ts';

const feature = 'checkout';
const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }];
const variant = { name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' };

/** For each action: valid changes, the first with the required properties alone, and invalid ones, each with its invalid property. */
const cases: {
  readonly [A in ChangeAction]: { readonly good: object[]; readonly wrong: [fault: string, change: object][] };
} = {
  updateSegment: {
    good: [
      { action: 'updateSegment', payload: { id: 4 } },
      {
        action: 'updateSegment',
        feature: null,
        payload: { id: 4, name: 'beta', description: null, project: 'shop', constraints },
      },
      { action: 'updateSegment', feature: 'anything', payload: { id: 4 } },
    ],
    wrong: [
      ['payload', { action: 'updateSegment' }],
      ['payload/id', { action: 'updateSegment', payload: { name: 'beta' } }],
      ['payload/id', { action: 'updateSegment', payload: { id: '4' } }],
      ['payload/id', { action: 'updateSegment', payload: { id: 2 ** 31 } }],
      ['payload/name', { action: 'updateSegment', payload: { id: 4, name: '' } }],
      [
        'payload/constraints/0/operator',
        { action: 'updateSegment', payload: { id: 4, constraints: [{ contextName: 'a' }] } },
      ],
      ['feature', { action: 'updateSegment', feature: 7, payload: { id: 4 } }],
    ],
  },
  deleteSegment: {
    good: [{ action: 'deleteSegment', payload: { id: 4 } }],
    wrong: [
      ['payload/id', { action: 'deleteSegment', payload: {} }],
      ['payload/id', { action: 'deleteSegment', payload: { id: 1.5 } }],
    ],
  },
  updateEnabled: {
    good: [
      { action: 'updateEnabled', feature, payload: { enabled: true } },
      { action: 'updateEnabled', feature, payload: { enabled: false, shouldActivateDisabledStrategies: true } },
    ],
    wrong: [
      ['feature', { action: 'updateEnabled', payload: { enabled: true } }],
      ['feature', { action: 'updateEnabled', feature: null, payload: { enabled: true } }],
      ['payload/enabled', { action: 'updateEnabled', feature, payload: {} }],
      ['payload/enabled', { action: 'updateEnabled', feature, payload: { enabled: 'true' } }],
      [
        'payload/shouldActivateDisabledStrategies',
        { action: 'updateEnabled', feature, payload: { enabled: true, shouldActivateDisabledStrategies: 1 } },
      ],
    ],
  },
  addStrategy: {
    good: [
      { action: 'addStrategy', feature, payload: { name: 'default', constraints: [], parameters: {} } },
      {
        action: 'addStrategy',
        feature,
        payload: {
          name: 'flexibleRollout',
          title: null,
          disabled: null,
          sortOrder: 2,
          constraints,
          variants: [{ ...variant, payload: { type: 'json', value: '{}' } }],
          parameters: { rollout: '5' },
          segments: [4],
        },
      },
    ],
    wrong: [
      ['payload/name', { action: 'addStrategy', feature, payload: { constraints: [], parameters: {} } }],
      ['payload/constraints', { action: 'addStrategy', feature, payload: { name: 'default', parameters: {} } }],
      ['payload/parameters', { action: 'addStrategy', feature, payload: { name: 'default', constraints: [] } }],
      [
        'payload/parameters/rollout',
        {
          action: 'addStrategy',
          feature,
          payload: { name: 'default', constraints: [], parameters: { rollout: null } },
        },
      ],
      [
        'payload/variants/0/payload/type',
        {
          action: 'addStrategy',
          feature,
          payload: {
            name: 'default',
            constraints: [],
            parameters: {},
            variants: [{ ...variant, payload: { type: 'xml', value: '' } }],
          },
        },
      ],
    ],
  },
  updateStrategy: {
    good: [
      { action: 'updateStrategy', feature, payload: { id: 's1' } },
      {
        action: 'updateStrategy',
        feature,
        payload: { id: 's1', name: 'default', title: null, constraints, parameters: {} },
      },
    ],
    wrong: [
      ['payload/id', { action: 'updateStrategy', feature, payload: { title: 'x' } }],
      ['payload/title', { action: 'updateStrategy', feature, payload: { id: 's1', title: 7 } }],
      ['payload/segments', { action: 'updateStrategy', feature, payload: { id: 's1', segments: 4 } }],
    ],
  },
  deleteStrategy: {
    good: [{ action: 'deleteStrategy', feature, payload: { id: 's1' } }],
    wrong: [
      ['payload/id', { action: 'deleteStrategy', feature, payload: {} }],
      ['payload', { action: 'deleteStrategy', feature, payload: 's1' }],
    ],
  },
  archiveFeature: {
    good: [
      { action: 'archiveFeature', feature },
      { action: 'archiveFeature', feature, payload: null },
      { action: 'archiveFeature', feature, payload: {} },
    ],
    wrong: [
      ['feature', { action: 'archiveFeature' }],
      ['payload', { action: 'archiveFeature', feature, payload: 'now' }],
      ['payload/enabled', { action: 'archiveFeature', feature, payload: { enabled: false } }],
    ],
  },
  patchVariant: {
    good: [
      { action: 'patchVariant', feature, payload: { variants: [] } },
      {
        action: 'patchVariant',
        feature,
        payload: { variants: [{ name: 'a', weight: 500, overrides: [{ contextName: 'userId', values: ['7'] }] }] },
      },
    ],
    wrong: [
      ['payload/variants', { action: 'patchVariant', feature, payload: {} }],
      [
        'payload/variants/0/weight',
        { action: 'patchVariant', feature, payload: { variants: [{ name: 'a', weight: 1001 }] } },
      ],
      [
        'payload/variants/0/overrides/0/values',
        {
          action: 'patchVariant',
          feature,
          payload: { variants: [{ name: 'a', weight: 1, overrides: [{ contextName: 'x' }] }] },
        },
      ],
    ],
  },
  reorderStrategy: {
    good: [{ action: 'reorderStrategy', feature, payload: [{ id: 's1', sortOrder: 1 }] }],
    wrong: [
      ['payload', { action: 'reorderStrategy', feature, payload: { id: 's1', sortOrder: 1 } }],
      ['payload/0/sortOrder', { action: 'reorderStrategy', feature, payload: [{ id: 's1' }] }],
    ],
  },
  addDependency: {
    good: [
      { action: 'addDependency', feature, payload: { feature: 'shop' } },
      { action: 'addDependency', feature, payload: { feature: 'shop', enabled: false, variants: ['a'] } },
    ],
    wrong: [
      ['payload/feature', { action: 'addDependency', feature, payload: {} }],
      ['payload/variants/0', { action: 'addDependency', feature, payload: { feature: 'shop', variants: [1] } }],
    ],
  },
  deleteDependency: {
    good: [
      { action: 'deleteDependency', feature },
      { action: 'deleteDependency', feature, payload: {} },
    ],
    wrong: [['payload', { action: 'deleteDependency', feature, payload: [] }]],
  },
};

const pathOfRefusal = (body: unknown): string | undefined => {
  try {
    parseChanges(body);
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'ValidationError') return error.details[0]?.path;
    throw error;
  }
  return 'was not refused';
};

describe.each(changeActions)('a change with the action %s', (action) => {
  it('is accepted, alone and in a list, in agreement with its documented schema', () => {
    for (const change of cases[action].good) {
      expect(parseChanges(structuredClone(change))).toMatchObject([{ action }]);
      expect(parseChanges([structuredClone(change), structuredClone(change)])).toHaveLength(2);
      expect(matchesSchema(ChangesBody, structuredClone(change))).toBe(true);
    }
  });

  it('is refused with the name of the invalid property', () => {
    for (const [fault, change] of cases[action].wrong) {
      expect(pathOfRefusal(change)).toBe(`/body/${fault}`);
      expect(pathOfRefusal([structuredClone(cases[action].good[0]), change])).toBe(`/body/1/${fault}`);
      expect(matchesSchema(ChangesBody, structuredClone(change))).toBe(false);
    }
  });
});

describe('changes', () => {
  it('have the eleven actions of the interface', () => {
    expect(Object.keys(changeSchemas)).toEqual(changeActions);
    expect(changeActions).toHaveLength(11);
  });

  it.each(['addMilestone', 'constructor', '__proto__', '', 7, null])(
    'with the unknown action %j are refused',
    (action) => {
      expect(pathOfRefusal({ action, feature, payload: {} })).toBe('/body/action');
      expect(pathOfRefusal([{ action, feature, payload: {} }])).toBe('/body/0/action');
    },
  );

  it('without an action are refused', () => {
    expect(pathOfRefusal({ feature, payload: {} })).toBe('/body/action');
  });

  it('are refused as an empty list and as a list that is too long', () => {
    const change = { action: 'archiveFeature', feature };
    expect(pathOfRefusal([])).toBe('/body');
    expect(parseChanges(new Array(maxProposedChanges).fill(change))).toHaveLength(maxProposedChanges);
    expect(pathOfRefusal(new Array(maxProposedChanges + 1).fill(change))).toBe('/body');
  });

  it.each([
    [undefined, '/body'],
    [null, '/body'],
    ['archiveFeature', '/body'],
    [[1], '/body/0'],
    [[[]], '/body/0'],
  ])('that are no objects are refused: %j', (body, path) => {
    expect(pathOfRefusal(body)).toBe(path);
  });

  it('always have a payload, even where none is needed', () => {
    for (const payload of [undefined, null, {}]) {
      expect(parseChanges({ action: 'archiveFeature', feature, payload })).toEqual([
        { action: 'archiveFeature', feature, payload: {} },
      ]);
    }
  });

  it('of a segment lose the feature that a client may have named', () => {
    expect(parseChanges({ action: 'deleteSegment', feature: 'checkout', payload: { id: 4 } })).toEqual([
      { action: 'deleteSegment', payload: { id: 4 } },
    ]);
  });

  it('lose properties that their schema does not have', () => {
    const change = JSON.parse('{"action":"archiveFeature","feature":"checkout","id":9,"__proto__":{"admin":true}}');
    expect(parseChanges(change)).toEqual([{ action: 'archiveFeature', feature, payload: {} }]);
  });

  it('get defaults for missing properties', () => {
    expect(parseChanges({ action: 'addDependency', feature, payload: { feature: 'shop' } })).toMatchObject([
      { payload: { feature: 'shop', enabled: true } },
    ]);
  });
});
