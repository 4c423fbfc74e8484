import { describe, expect, it } from 'vitest';
import type { TSchema } from 'typebox';
import { matchesSchema, parse } from './validation.ts';
import { isLenientSchema } from './lenient-schema.ts';
import {
  type AnyOperation,
  hasBody,
  isObjectSchema,
  isIdempotent,
  isRead,
  isPublicOperation,
  operationName,
  serviceNames,
  serviceOf,
} from './operation.ts';
import { DeprecatedSearchEvents } from './events/operations.ts';
import { SearchFeatures } from './features/search.ts';
import { allOperations, httpOperations } from './operations.ts';
import { PatchStrategy } from './strategies/strategies.ts';
import { AddFeatureTag, CreateTagType } from './features/tags.ts';
import { CreateSegment } from './strategies/segments.ts';
import { CreateStrategyType } from './strategies/strategy-types.ts';

const all = allOperations;

const schemasWithin = (value: unknown): object[] =>
  typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(schemasWithin)] : [];

/** The schemas that the OpenAPI document shows: the `documentation` of a schema replaces the schema there. */
const documentedWithin = (value: unknown): object[] => {
  if (typeof value !== 'object' || value === null) return [];
  if ('documentation' in value) return documentedWithin(value.documentation);
  return [value, ...Object.values(value).flatMap(documentedWithin)];
};

const schemasOf = (operation: (typeof httpOperations)[number]): TSchema[] => [
  operation.params,
  operation.query,
  operation.reply,
  ...(hasBody(operation) ? [operation.body] : []),
];

describe('the operation contracts', () => {
  it('have subjects and operation ids that no other has', () => {
    for (const key of ['subject', 'operationId'] as const) {
      const names = all.map((operation) => operation[key]);
      expect(new Set(names).size).toBe(names.length);
    }
    const addresses = httpOperations.map((operation) => `${operation.http?.method} ${operation.http?.url}`);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it.each(all.map((operation) => [operation.subject, operation] as const))(
    'name an existing service and their own operation: %s',
    (_subject, operation) => {
      expect(serviceNames).toContain(serviceOf(operation));
      expect(operationName(operation)).toMatch(/^[a-z]+(-[a-z]+)+$/);
    },
  );

  it('name the project in the URL where only its proposers may call', () => {
    const ofProposers = all.filter(({ permission }) => permission === 'proposer');
    expect(ofProposers.length).toBeGreaterThan(0);
    for (const { http } of ofProposers) expect(http?.url).toContain('/:projectId/');
  });

  it.each(httpOperations.map((operation) => [operation.subject, operation] as const))(
    'declare exactly the parameters of their URL: %s',
    (_subject, operation) => {
      const inAddress = [...(operation.http?.url ?? '').matchAll(/:(\w+)/g)].map(([, name]) => name);
      expect(isObjectSchema(operation.params) ? Object.keys(operation.params.properties) : []).toEqual(inAddress);
    },
  );

  it('require a permission or a token', () => {
    for (const operation of httpOperations) expect(operation.permission).not.toBe('service');
  });

  it('require a token below /api', () => {
    const open = httpOperations.filter(isPublicOperation).map(({ http }) => http?.url);
    // A signal endpoint has tokens of its own, and Slack signs its requests; the service that has the secrets checks them.
    expect(open.filter((url) => url?.startsWith('/api/'))).toEqual([
      '/api/signal-endpoint/:name',
      '/api/integrations/slack/:addonId/interactions',
    ]);
  });

  it('are reads by their declaration where they are by their name, and may then be repeated', () => {
    const readVerb = /^(check|count|digest|evaluate|feed|find|get|list|preview|read|search|suggest|validate|verify)-/;
    const named = all.filter((operation) => readVerb.test(operationName(operation)));
    const isDeclared = (operation: AnyOperation) =>
      operation.http === undefined ? isIdempotent(operation) : isRead(operation);
    expect(named.filter((operation) => !isDeclared(operation)).map(({ subject }) => subject)).toEqual([]);
    expect(all.filter((operation) => isRead(operation) && !isIdempotent(operation))).toEqual([]);
  });

  it('change the visibility of projects where they can set the mode of one', () => {
    const setsMode = httpOperations.filter(
      ({ tag, body }) => tag === 'Projects' && isObjectSchema(body) && 'mode' in body.properties,
    );
    expect(setsMode.map(operationName)).toContain('update-project-settings');
    expect(setsMode.filter(({ changesProjectVisibility }) => changesProjectVisibility !== true)).toEqual([]);
  });

  it('have schemas that can be compiled', () => {
    for (const operation of all)
      for (const schema of schemasOf(operation)) expect(() => matchesSchema(schema, {})).not.toThrow();
  });

  it('use each schema name for one schema', () => {
    const named = new Map<string, string>();
    for (const schema of httpOperations.flatMap(schemasOf).flatMap(documentedWithin)) {
      if (!('title' in schema) || typeof schema.title !== 'string') continue;
      const text = JSON.stringify(schema);
      const name = isLenientSchema(schema) ? `${schema.title} of requests` : schema.title;
      expect(named.get(name) ?? text).toBe(text);
      named.set(name, text);
    }
    expect([...named.keys()].map((name) => name.split(' ')[0])).toEqual(
      expect.arrayContaining([
        'featureSchema',
        'featureStrategySchema',
        'constraintSchema',
        'strategyVariantSchema',
        'variantSchema',
        'featureEnvironmentSchema',
        'tagSchema',
        'searchFeaturesSchema',
        'featureSearchResponseSchema',
        'eventsSchema',
        'eventSchema',
        'searchEventsSchema',
        'patchesSchema',
        'patchSchema',
        'segmentSchema',
        'changeRequestSchema',
        'createFeatureSchema',
        'createFeatureStrategySchema',
        'projectSchema',
        'importTogglesSchema',
      ]),
    );
  });

  it('have no regular expressions for input', () => {
    for (const schema of httpOperations.flatMap(schemasOf).flatMap(schemasWithin)) {
      // An object schema may have a property named `pattern`, whose value is a schema, not an expression.
      expect(typeof (schema as Readonly<Record<string, unknown>>)['pattern']).not.toBe('string');
      expect(schema).not.toHaveProperty('patternProperties');
    }
  });

  it('keep the operation ids that generated clients use', () => {
    expect(httpOperations.map((operation) => operation.operationId)).toEqual(
      expect.arrayContaining([
        'patchFeatureStrategy',
        'getFeature',
        'createChangeRequest',
        'getPendingChangeRequestsForUser',
        'searchFeatures',
        'removeTag',
        'deprecatedSearchEvents',
        'getStrategiesBySegmentId',
      ]),
    );
  });
});

describe('a created object', () => {
  it('has a Location with its URL', () => {
    expect(locationOf(AddFeatureTag, { params: { featureName: 'a%b' } }, {})).toBe('a%25b/tags');
    expect(locationOf(CreateSegment, {}, { id: 4 })).toBe('segments/4');
    expect(locationOf(CreateTagType, {}, { name: 'team' })).toBe('tag-types/team');
    expect(locationOf(CreateStrategyType, {}, { name: 'by region' })).toBe('strategies/by%20region');
  });
});

describe('a search', () => {
  it('validates a filter on which its documented pattern would backtrack', () => {
    // A regular expression that backtracks would not return in the lifetime of a machine.
    const tag = `INCLUDE:${'a:b,'.repeat(1000)}`;
    expect(parse(SearchFeatures.query, { tag }, '/query', 'text')).toEqual({ tag });
  });

  it('of events by POST is marked as deprecated', () => {
    expect(DeprecatedSearchEvents.deprecated).toBe(true);
    expect(PatchStrategy.deprecated).toBeUndefined();
  });
});

function locationOf(operation: (typeof httpOperations)[number], request: object, reply: object): string | undefined {
  return operation.http?.location?.(request as never, reply as never);
}
