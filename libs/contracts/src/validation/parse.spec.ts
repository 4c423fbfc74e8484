import { describe, expect, it } from 'vitest';
import type { TSchema } from 'typebox';
import { Type } from 'typebox';
import { Refusal } from '../errors.ts';
import { SearchEventsBody } from '../events/event.ts';
import { Constraint } from '../model/strategies/constraint.ts';
import { ImportFeaturesBody } from '../model/features/import-export.ts';
import { JsonPatch } from '../model/json-patch.ts';
import { FeatureStrategy } from '../model/strategies/strategy.ts';
import { Tag } from '../model/features/tag.ts';
import { type InputEncoding, matchesSchema, parse } from './parse.ts';

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
