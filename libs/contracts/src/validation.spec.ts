import { describe, expect, it } from 'vitest';
import { type TSchema, Type } from 'typebox';
import { type ChangeAction, changeActions, ChangesBody, changeSchemas, maxProposedChanges } from './changes/change.ts';
import { Refusal } from './errors.ts';
import { SearchEventsBody } from './events/event.ts';
import { ImportFeaturesBody } from './features/import-export.ts';
import { Tag } from './features/tags.ts';
import { JsonPatch } from './schemas.ts';
import { Constraint } from './strategies/constraints.ts';
import { FeatureStrategy } from './strategies/strategies.ts';
import {
  type InputEncoding,
  matchesSchema,
  parameterParser,
  parse,
  parseChanges,
  parseDay,
  parseTimeZone,
  startOfDay,
  parseId,
  parseInteger,
  parseKeyword,
  parseList,
  splitOperator,
} from './validation.ts';

const refusalOf = (schema: TSchema, value: unknown, at = '/body', encoding?: InputEncoding): Refusal => {
  try {
    parse(schema, value, at, encoding);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('was not refused');
};

const patch = (operation: object): readonly object[] => [{ op: 'add', path: '/title', value: 'x' }, operation];

describe('a refusal', () => {
  it.each<[string, TSchema, unknown, string]>([
    ['a missing property', Tag, { type: 'simple' }, '/body/value'],
    ['a missing property of an element', JsonPatch, patch({ op: 'add' }), '/body/1/path'],
    ['a missing property before a rule that speaks of it', JsonPatch, [{ op: 'replace', value: 1 }], '/body/0/path'],
    ['a path that is not text', JsonPatch, [{ op: 'replace', path: null, value: 'x' }], '/body/0/path'],
    ['a missing operator before a rule that speaks of it', JsonPatch, [{ path: '' }], '/body/0/op'],
    ['a wrong type', FeatureStrategy, { name: 7 }, '/body/name'],
    ['a wrong type where null would do', FeatureStrategy, { name: 'default', title: 7 }, '/body/title'],
    ['a value outside an enumeration', JsonPatch, patch({ op: 'test', path: '/title' }), '/body/1/op'],
    ['a property that is not known', FeatureStrategy, { name: 'default', bogus: 1 }, '/body/bogus'],
    ['a property of the prototype', FeatureStrategy, JSON.parse('{"name":"x","__proto__":{}}'), '/body/__proto__'],
    ['a number that is too high', SearchEventsBody, { limit: 101 }, '/body/limit'],
    ['a number that is too low', SearchEventsBody, { limit: 0 }, '/body/limit'],
    ['an offset that no event can have', SearchEventsBody, { offset: 1e300 }, '/body/offset'],
    ['text for a number', SearchEventsBody, { limit: '5' }, '/body/limit'],
    ['text that is too short', Tag, { type: 'simple', value: 'x' }, '/body/value'],
    ['text that is too long', Tag, { type: 'simple', value: 'x'.repeat(51) }, '/body/value'],
    ['a list that is too long', JsonPatch, new Array(101).fill({ op: 'remove', path: '/a' }), '/body'],
    ['a segment id that is no id', FeatureStrategy, { name: 'default', segments: [1.5] }, '/body/segments/0'],
    [
      'a parameter that is not text',
      FeatureStrategy,
      { name: 'x', parameters: { rollout: 25 } },
      '/body/parameters/rollout',
    ],
    [
      'a parameter whose name has a line break',
      FeatureStrategy,
      { name: 'x', parameters: { 'a\nb': 1 } },
      '/body/parameters/a\nb',
    ],
    ['a weight above the total', FeatureStrategy, strategyWithWeight(1001), '/body/variants/0/weight'],
    ['a weight that is not whole', FeatureStrategy, strategyWithWeight(1.5), '/body/variants/0/weight'],
  ])('names the invalid property: %s', (_what, schema, value, path) => {
    const refusal = refusalOf(schema, value);
    expect(refusal.kind).toBe('ValidationError');
    expect(refusal.details).toEqual([{ message: refusal.message, path }]);
    expect(refusal.message).toContain(path.slice(path.lastIndexOf('/') + 1));
  });

  it('says what was expected, and what was sent', () => {
    expect(refusalOf(FeatureStrategy, { name: 'x', title: 7 }).message).toBe(
      'The `/body/title` property must be string or null. You sent 7.',
    );
    expect(refusalOf(JsonPatch, patch({ op: 'test', path: '/a' })).message).toContain(
      'must be equal to one of the allowed values: "add", "remove", "replace", "copy", "move". You provided "test"',
    );
    expect(refusalOf(SearchEventsBody, { limit: 101 }).message).toBe(
      'The `/body/limit` property must be <= 100. You sent 101.',
    );
  });

  it('names the invalid property inside a nullable object', () => {
    const schema = Type.Object({ of: Type.Union([Type.Object({ id: Type.Integer() }), Type.Null()]) });
    expect(refusalOf(schema, { of: {} }).details).toMatchObject([{ path: '/body/of/id' }]);
  });

  it('truncates a long value or name that it quotes', () => {
    expect(refusalOf(Tag, { type: 'simple', value: '🎉'.repeat(10_000) }).message.length).toBeLessThan(400);
    const long = 'x'.repeat(10_000);
    expect(refusalOf(FeatureStrategy, { name: 'x', [long]: 1 }).message.length).toBeLessThan(400);
    expect(refusalOf(FeatureStrategy, { name: 'x', parameters: { [long]: 1 } }).message.length).toBeLessThan(1200);
  });

  it('truncates the received value to well-formed text', () => {
    for (const padding of ['', 'x']) {
      expect(refusalOf(Tag, { type: 'simple', value: padding + '🎉'.repeat(200) }).message.isWellFormed()).toBe(true);
    }
  });
});

describe('a parsed value', () => {
  it('is limited in characters, not in UTF-16 units', () => {
    expect(matchesSchema(Tag, { type: 'simple', value: '🎉'.repeat(50) })).toBe(true);
    expect(matchesSchema(Tag, { type: 'simple', value: '🎉' })).toBe(false);
  });

  it('gets defaults for missing properties', () => {
    expect(parse(SearchEventsBody, {})).toEqual({ limit: 100 });
    expect(parse(Constraint, { contextName: 'userId', operator: 'IN' })).toEqual({
      contextName: 'userId',
      operator: 'IN',
      caseInsensitive: false,
      inverted: false,
    });
  });

  it('is converted to the expected type only where it is encoded as text', () => {
    const query = Type.Object({ id: Type.Integer(), on: Type.Boolean() });
    expect(parse(query, { id: '7', on: 'true' }, '/query', 'text')).toEqual({ id: 7, on: true });
    expect(refusalOf(query, { id: '', on: 'true' }, '/query', 'text').details[0]?.path).toBe('/query/id');
    expect(refusalOf(query, { id: '7', on: 'yes' }, '/query', 'text').details[0]?.path).toBe('/query/on');
    expect(refusalOf(query, { id: '7', on: true }).details[0]?.path).toBe('/body/id');
  });
});

describe('an import', () => {
  const data = {
    features: [
      { name: 'checkout', description: null, type: 'release', project: 'shop', stale: false, lastSeenAt: null },
    ],
    featureStrategies: [
      {
        name: 'flexibleRollout',
        id: '5a0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10',
        featureName: 'checkout',
        title: null,
        parameters: { rollout: '50' },
        constraints: [{ contextName: 'appName', operator: 'SEMVER_GT', value: '4.8.19', values: [], inverted: false }],
        variants: [],
        disabled: false,
        segments: [6],
      },
    ],
    featureEnvironments: [
      { enabled: true, featureName: 'checkout', environment: 'development', variants: [], name: 'checkout' },
    ],
    contextFields: [{ name: 'appName', description: '', stickiness: false, sortOrder: 2, legalValues: [] }],
    featureTags: [{ featureName: 'checkout', tagType: 'risk', tagValue: 'high' }],
    segments: [{ id: 6, name: 'apac' }],
    tagTypes: [{ name: 'risk', description: '', icon: null, color: '#FFFFFF' }],
    dependencies: [{ feature: 'checkout', dependencies: [{ feature: 'shop', enabled: true, variants: [] }] }],
    links: [],
  };

  it('accepts an export of Unleash', () => {
    expect(() => parse(ImportFeaturesBody, { project: 'shop', environment: 'development', data })).not.toThrow();
  });

  it('accepts an export of the required properties only', () => {
    const least = { features: [], featureStrategies: [], tagTypes: [] };
    expect(() => parse(ImportFeaturesBody, { project: 'shop', environment: 'development', data: least })).not.toThrow();
  });

  it('names a deeply nested invalid property', () => {
    const [strategy] = data.featureStrategies;
    const constraints = [{ contextName: 'appName', operator: 'MATCHES', value: '.*' }];
    const wrong = { ...data, featureStrategies: [{ ...strategy, constraints }] };
    expect(
      refusalOf(ImportFeaturesBody, { project: 'shop', environment: 'development', data: wrong }).details[0]?.path,
    ).toBe('/body/data/featureStrategies/0/constraints/0/operator');
  });
});

function strategyWithWeight(weight: number): object {
  return { name: 'default', variants: [{ name: 'a', weight, weightType: 'fix', stickiness: 'default' }] };
}

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
  updateSegmentList: {
    good: [
      { action: 'updateSegmentList', payload: { id: 4, contextName: 'userId', root: 'a'.repeat(64) } },
      {
        action: 'updateSegmentList',
        payload: {
          id: 4,
          contextName: 'userId',
          root: 'a'.repeat(64),
          size: 3,
          added: 2,
          removed: 1,
          replaced: { contextName: 'userId', size: 2, version: 6 },
        },
      },
    ],
    wrong: [
      ['payload/id', { action: 'updateSegmentList', payload: { contextName: 'userId', root: 'a'.repeat(64) } }],
      ['payload/root', { action: 'updateSegmentList', payload: { id: 4, contextName: 'userId' } }],
      ['payload/root', { action: 'updateSegmentList', payload: { id: 4, contextName: 'userId', root: 'a' } }],
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
  it('have the eleven actions of the interface, and the one of Bunting', () => {
    expect(Object.keys(changeSchemas)).toEqual(changeActions);
    expect(changeActions).toHaveLength(12);
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

const parameter = (text: string) => ({ name: 'type', text });
const must = (rule: string, sent: string) =>
  `The \`/query/type\` property must ${rule}. You sent ${JSON.stringify(sent)}.`;

describe('a parameter of a search', () => {
  it('is undefined where the query lacks it', () => {
    expect(parameterParser<'type' | 'project'>({ type: 'release' })('project', ({ text }) => text)).toBeUndefined();
  });

  it('has at most 4096 characters, however many units they take', () => {
    const textOf = (text: string) => parameterParser({ type: text })('type', (checked) => checked.text);
    expect(textOf('😀'.repeat(4_096))).toHaveLength(8_192);
    for (const tooLong of ['x'.repeat(4_097), '😀'.repeat(4_097)])
      expect(() => textOf(tooLong)).toThrow('The `/query/type` property must be at most 4096 characters long.');
  });

  it('is storable text', () => {
    expect(() => parameterParser({ type: 'a\0b' })('type', ({ text }) => text)).toThrow('`/query/type`');
  });

  it('begins with an operator', () => {
    expect(splitOperator(parameter('IS_NOT:a:b'), ['IS', 'IS_NOT'])).toEqual(['IS_NOT', 'a:b']);
    for (const text of ['', 'IS', ':a', 'is:a', 'IS_NOT :a'])
      expect(() => splitOperator(parameter(text), ['IS', 'IS_NOT'])).toThrow(
        must('begin with IS or IS_NOT, and a colon', text),
      );
  });

  it('lists values with commas between them, each once', () => {
    expect(parseList(parameter('IS:a, b,a'), 'a, b,a')).toEqual(['a', 'b']);
    expect(['a,,b', ',a,b, ', '', ' , '].map((list) => parseList(parameter(`IS:${list}`), list))).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      [],
      [],
    ]);
    expect(() => parseList(parameter('IS:a\nb'), 'a\nb')).toThrow(must('be one line of text', 'IS:a\nb'));
  });

  it('lists at most 200 values', () => {
    const values = (count: number) => Array.from({ length: count }, (_, nth) => nth).join(',');
    expect(parseList(parameter(values(200)), values(200))).toHaveLength(200);
    expect(() => parseList(parameter(values(201)), values(201))).toThrow('must list at most 200 values');
  });

  it('names a day of the calendar', () => {
    expect(parseDay(parameter('IS:2024-02-29'), '2024-02-29')).toBe('2024-02-29');
    for (const date of ['2023-02-29', '2024-2-1', '2024-01-01T00:00:00Z', ''])
      expect(() => parseDay(parameter(`IS:${date}`), date)).toThrow(
        must('end with a date of the calendar, written YYYY-MM-DD', `IS:${date}`),
      );
  });

  it.each([
    ['2026-11-28', 'UTC', '2026-11-28T00:00:00.000Z'],
    ['2026-11-28', 'Asia/Kolkata', '2026-11-27T18:30:00.000Z'],
    ['2026-11-28', 'Pacific/Kiritimati', '2026-11-27T10:00:00.000Z'],
    ['2026-11-28', 'America/Los_Angeles', '2026-11-28T08:00:00.000Z'],
    // The days on which clocks change, in either direction.
    ['2026-03-29', 'Europe/Oslo', '2026-03-28T23:00:00.000Z'],
    ['2026-10-25', 'Europe/Oslo', '2026-10-24T22:00:00.000Z'],
    ['2026-10-26', 'Europe/Oslo', '2026-10-25T23:00:00.000Z'],
    // Clocks skip the hour after midnight there.
    ['2026-03-08', 'America/Havana', '2026-03-08T05:00:00.000Z'],
    ['0001-01-01', 'UTC', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31', 'Asia/Tokyo', '9999-12-30T15:00:00.000Z'],
  ])('is a day that begins where the reader is: %s in %s', (day, timeZone, instant) => {
    expect(startOfDay(day, timeZone).toISOString()).toBe(instant);
  });

  it('is a time zone that exists', () => {
    expect(parseTimeZone(parameter('Asia/Kolkata'))).toMatch(/^Asia\/(Kolkata|Calcutta)$/);
    for (const text of ['', 'Nowhere', 'Europe/Oslo; drop', 'x'.repeat(101)])
      expect(() => parseTimeZone(parameter(text))).toThrow(
        must('be the name of a time zone, such as Europe/Oslo', text),
      );
  });

  it('is a whole number within bounds', () => {
    expect(parseInteger(parameter('007'), 0, 10)).toBe(7);
    expect(parseInteger(parameter('1'.repeat(400)), 0)).toBe(Number.MAX_SAFE_INTEGER);
    for (const text of ['', '-1', '11', '1.5', '1e1'])
      expect(() => parseInteger(parameter(text), 0, 10)).toThrow(must('be a whole number from 0 to 10', text));
    expect(() => parseInteger(parameter('x'), 0)).toThrow(must('be a whole number of at least 0', 'x'));
  });

  it('is one of some words', () => {
    expect(parseKeyword(parameter('asc'), ['asc', 'desc'])).toBe('asc');
    expect(() => parseKeyword(parameter('ASC'), ['asc', 'desc'])).toThrow(must('be one of asc, desc', 'ASC'));
  });

  it('is an id when it has at most 15 digits', () => {
    expect(['7', '-42', '9'.repeat(15)].map(parseId)).toEqual([7, -42, 999_999_999_999_999]);
    for (const text of ['', 'mia', '1e3', '7 ', '9'.repeat(16)]) expect(parseId(text)).toBeUndefined();
  });
});
