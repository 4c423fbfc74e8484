import { describe, expect, it } from 'vitest';
import {
  additionalEventTypes,
  defineOperation,
  eventTypes,
  unleashEventTypes,
  httpOperations,
} from '@bunting/contracts';
import { Type } from 'typebox';
import { schemaMismatches, fieldDiffers } from '../../../test/schema-mismatches.ts';
import { errorBody, eventTypesOfInterface, promised } from '../../../test/interface-tables.ts';
import { faultsOfOpenApiDocument } from './lint.ts';
import { type OpenApiDocument, openApiDocument } from './openapi-document.ts';

type Schema = Readonly<Record<string, unknown>>;
interface WrittenOperation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
    readonly description?: string;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      { readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly examples?: Schema }>> }
    >
  >;
}

const document = openApiDocument(httpOperations);
const asSchema = document as unknown as Schema;

describe.each(promised)('$method $path', ({ method, path, ...promise }) => {
  const operation = document.paths[path]?.[method] as unknown as WrittenOperation;

  it('is documented at its path, with its parameters', () => {
    expect(operation).toBeDefined();
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    expect(inPath.map(({ name, required, schema }) => [name, required, schema['type']])).toEqual(
      promise.pathParameters.map((name) => [name, true, 'string']),
    );
    const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    const faults = Object.entries(promise.query).flatMap(([name, field]) => {
      const parameter = inQuery.find((known) => known.name === name);
      const schema = parameter && { ...parameter.schema, description: parameter.description };
      return fieldDiffers(asSchema, schema, parameter?.required ?? false, field, `query.${name}`);
    });
    expect(faults).toEqual([]);
  });

  it('documents its body with every field, requirement, enumeration and limit', () => {
    if (promise.body === undefined) return expect(operation.requestBody).toBeUndefined();
    expect(operation.requestBody?.required).toBe(true);
    expect(Object.keys(operation.requestBody?.content ?? {})).toEqual(['application/json']);
    expect(
      schemaMismatches(
        asSchema,
        operation.requestBody?.content['application/json']?.schema,
        promise.body,
        'body',
        'request',
      ),
    ).toEqual([]);
  });

  it('documents its response with every field, requirement, enumeration and limit', () => {
    const { content } = operation.responses['200'] ?? {};
    if (promise.reply === undefined)
      return expect([operation.responses['200'] === undefined, content]).toEqual([false, undefined]);
    expect(schemaMismatches(asSchema, content?.['application/json']?.schema, promise.reply, 'reply')).toEqual([]);
  });

  it('documents every error that is promised, with the body that is promised', () => {
    for (const [status, kind] of Object.entries(promise.errors)) {
      const { schema, examples } = operation.responses[status]?.content?.['application/json'] ?? {};
      expect([status, Object.keys(examples ?? {})]).toEqual([status, expect.arrayContaining([kind])]);
      expect(schemaMismatches(asSchema, schema, { members: errorBody }, `${status}`)).toEqual([]);
    }
  });

  it('is marked as deprecated only where the interface does', () => {
    expect(operation.deprecated ?? false).toBe(promise.deprecated);
  });
});

describe('the document', () => {
  it('requires the schedule of a change request exactly when it is scheduled', () => {
    for (const name of ['changeRequestSchema', 'pendingChangeRequestSchema']) {
      expect(document.components.schemas[name]).toMatchObject({
        if: { properties: { state: { const: 'Scheduled' } }, required: ['state'] },
        then: { required: ['schedule'] },
      });
    }
  });

  it('lists exactly the 146 event types of the interface in its order, followed by those of Bunting', () => {
    expect(eventTypesOfInterface).toHaveLength(146);
    expect(new Set(eventTypesOfInterface).size).toBe(146);
    expect(unleashEventTypes).toEqual(eventTypesOfInterface);
    expect(eventTypes).toEqual([...eventTypesOfInterface, ...additionalEventTypes]);
    expect(document.components.schemas['eventTypeSchema']).toMatchObject({ enum: eventTypesOfInterface });
    expect(document.components.schemas['loggedEventTypeSchema']).toMatchObject({ enum: eventTypes });
  });

  it('requires the Authorization header for every operation', () => {
    expect(document.components.securitySchemes).toMatchObject({
      apiKey: { type: 'apiKey', in: 'header', name: 'Authorization' },
      bearerToken: { type: 'http', scheme: 'bearer' },
    });
    expect(document.security).toEqual([{ apiKey: [] }, { bearerToken: [] }]);
  });

  it('names operations and schemas as generated clients expect', () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(ids).toEqual(
      expect.arrayContaining([
        'patchFeatureStrategy',
        'getFeature',
        'searchFeatures',
        'removeTag',
        'deprecatedSearchEvents',
      ]),
    );
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        'featureSchema',
        'featureStrategySchema',
        'searchFeaturesSchema',
        'eventsSchema',
        'tagSchema',
        'patchesSchema',
      ]),
    );
  });

  it('contains exactly the operations with an HTTP binding', () => {
    const written = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const mounted = httpOperations.flatMap(({ http }) =>
      http === undefined ? [] : `${http.method.toLowerCase()} ${http.url.replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    expect(written.sort()).toEqual(mounted.sort());
  });

  it('describes every reference, id, parameter and schema soundly', () => {
    expect(faultsOfOpenApiDocument(document)).toEqual([]);
  });

  it('rejects two different schemas with one name', () => {
    const named = (description: string) => Type.Object({}, { title: 'twiceSchema', description });
    const operation = defineOperation({
      subject: 'call.features.twice',
      operationId: 'twice',
      summary: 'Twice',
      tag: 'Internal',
      http: { method: 'POST', url: '/twice' },
      permission: 'authenticated',
      body: named('one'),
      reply: named('another'),
    });
    expect(() => openApiDocument([operation])).toThrow('Two different schemas are called twiceSchema.');
  });
});

describe('the comparison with the interface', () => {
  type Properties = Record<string, Record<string, unknown>>;
  const faultsAfter = (change: (properties: Properties, schema: { required: string[] }) => unknown): string[] => {
    const copy = structuredClone(document) as unknown as {
      components: { schemas: Record<string, { required: string[]; properties: Properties }> };
    };
    const schema = copy.components.schemas['featureStrategySchema'] as { required: string[]; properties: Properties };
    change(schema.properties, schema);
    const [strategy] = promised;
    return schemaMismatches(
      copy as unknown as Schema,
      { $ref: '#/components/schemas/featureStrategySchema' },
      strategy?.reply as never,
      'reply',
    );
  };

  it('finds no difference in an unchanged document', () => {
    expect(faultsAfter(() => undefined)).toEqual([]);
  });

  it.each<[string, (properties: Properties, schema: { required: string[] }) => unknown, string]>([
    ['is gone', (properties) => delete properties['title'], 'reply.title is not there'],
    [
      'is of another type',
      (properties) => (properties['sortOrder'] = { type: 'string' }),
      'reply.sortOrder has type "string", not number',
    ],
    [
      'may not be null any more',
      (properties) => (properties['title'] = { type: 'string' }),
      'reply.title: nullable is false, not true',
    ],
    [
      'is required too much',
      (_properties, schema) => schema.required.push('title'),
      'reply.title: required is true, not false',
    ],
    [
      'is required too little',
      (_properties, schema) => schema.required.splice(0),
      'reply.name: required is false, not true',
    ],
    [
      'is new and required',
      (_properties, schema) => schema.required.push('secret'),
      'reply.secret is required, and not promised',
    ],
    [
      'is deprecated',
      (properties) => (properties['id'] = { type: 'string', deprecated: true }),
      'reply.id: deprecated is true, not false',
    ],
    [
      'has fewer values',
      (properties) => (properties['id'] = { type: 'string', enum: ['a'] }),
      'reply.id: values is ["a"], not undefined',
    ],
    [
      'is a list of something else',
      (properties) => (properties['segments'] = { type: 'array', items: { type: 'string' } }),
      'reply.segments[] has type "string", not number',
    ],
  ])('finds a member that %s', (_what, change, fault) => {
    expect(faultsAfter(change)).toEqual([fault]);
  });
});

describe('the check of the document', () => {
  const broken = (
    change: (copy: {
      paths: Record<string, Record<string, Record<string, unknown>>>;
      components: { schemas: Record<string, unknown> };
    }) => void,
  ) => {
    const copy = structuredClone(document) as never;
    change(copy);
    return faultsOfOpenApiDocument(copy as OpenApiDocument);
  };
  const path = '/api/admin/projects/{projectId}/features/{featureName}';
  const get = (copy: { paths: Record<string, Record<string, Record<string, unknown>>> }) =>
    copy.paths[path]?.['get'] ?? {};

  it('finds an unresolved reference, an invalid schema and a missing schema', () => {
    expect(broken((copy) => delete copy.components.schemas['tagSchema'])).toContain(
      '#/components/schemas/tagSchema does not resolve.',
    );
    expect(broken((copy) => (copy.components.schemas['tagSchema'] = { type: 'nonsense' })).join('\n')).toContain(
      'components/schemas/tagSchema is no JSON Schema',
    );
    expect(broken((copy) => (copy.components.schemas['tagSchema'] = { items: { pattern: '(' } }))).toContain(
      'components/schemas/tagSchema has a pattern that is no regular expression: (',
    );
    expect(broken((copy) => (get(copy)['requestBody'] = { content: { 'application/json': {} } }))).toContain(
      `GET ${path}, body has no schema.`,
    );
  });

  it('finds a duplicate operationId and a missing one', () => {
    expect(broken((copy) => (get(copy)['operationId'] = 'searchFeatures'))).toContain(
      'The operationId searchFeatures is not unique.',
    );
    expect(broken((copy) => delete get(copy)['operationId'])).toContain(`GET ${path} has no operationId.`);
    expect(broken((copy) => (get(copy)['parameters'] = []))).toContain(
      `GET ${path} does not declare its path parameter projectId as required.`,
    );
    expect(broken((copy) => (get(copy)['responses'] = {}))).toContain(`GET ${path} has no response for success.`);
  });

  it('finds a header without a pattern and an operation without a response to a malformed one', () => {
    const header = { name: 'If-Match', in: 'header', schema: { type: 'string' } };
    expect(broken((copy) => (get(copy)['parameters'] = [header]))).toContain(
      `GET ${path} does not say what its header If-Match looks like.`,
    );
    expect(broken((copy) => delete (get(copy)['responses'] as Record<string, unknown>)['400'])).toContain(
      `GET ${path} does not say what a malformed header leads to.`,
    );
  });
});

it('a POST that evaluates features for browsers and apps is documented with its 304 and the header that leads to it', () => {
  const bulk = document.paths['/ofrep/v1/evaluate/flags']?.['post'] as unknown as WrittenOperation;
  expect(Object.keys(bulk.responses)).toContain('304');
  expect(bulk.parameters?.map(({ name }) => name)).toContain('If-None-Match');
});
