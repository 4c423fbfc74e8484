import { readFileSync } from 'node:fs';
import {
  AddComment,
  additionalEventTypes,
  AddStrategy,
  type AnyOperation,
  CloneEnvironment,
  CreateProjectApiToken,
  CreateRole,
  CreateSegment,
  defineOperation,
  eventTypes,
  httpOperations,
  PatchFeature,
  Refusal,
  type RoleBody,
  SetFeatureVariants,
  SetTitle,
  unleashEventTypes,
  UpdateRole,
  UpdateSegment,
  ValidateConstraint,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { parseRole } from '../../access/roles/role.ts';
import { faultsOfOpenApiDocument } from './lint.ts';
import { openApiDocument, type OpenApiDocument } from './openapi-document.ts';

interface WrittenOperation {
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, object>>;
}

const document = openApiDocument(httpOperations);

/** What clients rely on: without texts for readers, of examples the names alone, which are the kinds of errors, and `required` in any order. */
const withoutProse = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (typeof value !== 'object' || value === null) return value;
  const isProse = (name: string, member: unknown) =>
    ['description', 'summary'].includes(name) && typeof member === 'string';
  const members = Object.entries(value).filter(([name, member]) => !isProse(name, member));
  const significant = (name: string, member: unknown): unknown => {
    if (name === 'examples') return Object.keys(member as object);
    return name === 'required' && Array.isArray(member) ? member.toSorted() : withoutProse(member);
  };
  return Object.fromEntries(members.map(([name, member]) => [name, significant(name, member)]));
};

/**
 * The promised interface of the seven operations, a line for each of them, by method and path, and for each schema, by name. A change of a line
 * changes what clients rely on.
 */
const promised = readFileSync(new URL('../../../test/interface.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as [name: string, expected: object]);

/** Without the alternatives of a request body that are new: what clients send is still accepted. */
const promisedAlternatives = (documented: readonly unknown[], expected: readonly unknown[]): readonly unknown[] => {
  const titleOf = (item: unknown) => (item as { readonly title?: string } | null)?.title;
  const titles = expected.map(titleOf);
  return titles.includes(undefined) ? documented : documented.filter((item) => titles.includes(titleOf(item)));
};

/** The documented value without the properties that are new: further optional ones break no client. */
const promisedPartOf = (documented: unknown, expected: unknown, isProperties = false): unknown => {
  if (Array.isArray(documented) && Array.isArray(expected))
    return promisedAlternatives(documented, expected).map((item, index) => promisedPartOf(item, expected[index]));
  if (typeof documented !== 'object' || documented === null || typeof expected !== 'object') return documented;
  const members = Object.entries(documented).filter(([name]) => !isProperties || name in (expected ?? {}));
  return Object.fromEntries(
    members.map(([name, member]) => {
      const expectedMember = (expected as Record<string, unknown> | null)?.[name];
      return [name, promisedPartOf(member, expectedMember, name === 'properties')];
    }),
  );
};

it.each(promised)('documents what the interface promises of %s', (name, expected) => {
  const [method = '', path] = name.split(' ');
  const documented = path === undefined ? document.components.schemas[name] : document.paths[path]?.[method];
  expect(promisedPartOf(withoutProse(documented), expected)).toEqual(expected);
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
    expect(new Set(unleashEventTypes).size).toBe(146);
    expect(new Map(promised).get('eventTypeSchema')).toMatchObject({ enum: unleashEventTypes });
    expect(eventTypes).toEqual([...unleashEventTypes, ...additionalEventTypes]);
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

it('an operation that Unleash does not have is marked, one that it has is not', () => {
  expect(document.paths['/api/admin/events/feed']?.['get']).toHaveProperty(['x-bunting-extension'], true);
  expect(document.paths['/api/admin/search/events']?.['get']).not.toHaveProperty(['x-bunting-extension']);
});

/** Whether the OpenAPI document allows a body. */
const documents = ({ http }: AnyOperation) => {
  if (http === undefined) throw new Error('not an HTTP operation');
  const path = http.url.replaceAll(/:(\w+)/g, '{$1}');
  const written = document.paths[path]?.[http.method.toLowerCase()] as unknown as {
    readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: object } } };
  };
  const { schema } = written.requestBody.content['application/json'];
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validate = ajv.compile({ ...schema, components: document.components });
  return (body: unknown): boolean => validate(body);
};

/** Whether the gateway accepts a body, before anything is looked up. */
const accepts = (operation: AnyOperation, judge: (body: never) => unknown) => {
  return (body: unknown): boolean => {
    try {
      judge(parse(operation.body, structuredClone(body), '/body') as never);
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  };
};

const constraints: readonly (readonly [boolean, Readonly<Record<string, unknown>>])[] = [
  [true, { operator: 'IN', values: ['a', 5, true] }],
  [true, { operator: 'STR_CONTAINS', values: ['x'.repeat(100)], value: '' }],
  [false, { operator: 'IN', values: [] }],
  [false, { operator: 'NOT_IN', value: 'a' }],
  [false, { operator: 'IN', values: ['a', ''] }],
  [false, { operator: 'IN', values: ['x'.repeat(101)] }],
  [false, { operator: 'IN', values: ['a'], contextName: '' }],
  [true, { operator: 'NUM_GT', value: '5' }],
  [true, { operator: 'NUM_GT', value: 5, values: [] }],
  [true, { operator: 'NUM_LTE', value: '-.5e-3' }],
  [true, { operator: 'NUM_EQ', value: '5.' }],
  [false, { operator: 'NUM_EQ', value: '' }],
  [false, { operator: 'NUM_EQ', value: true }],
  [false, { operator: 'NUM_EQ', value: '--5' }],
  [false, { operator: 'NUM_EQ', value: '1e999' }],
  [false, { operator: 'NUM_EQ', value: '.' }],
  [false, { operator: 'NUM_EQ', values: ['5'] }],
  [true, { operator: 'DATE_AFTER', value: '2024-02-29' }],
  [true, { operator: 'DATE_BEFORE', value: '2026-11-21T10:00:00.123+02:00' }],
  [false, { operator: 'DATE_AFTER', value: '2023-02-29' }],
  [false, { operator: 'DATE_AFTER', value: '2026-11-21T25:00Z' }],
  [false, { operator: 'DATE_AFTER', value: 2026 }],
  [true, { operator: 'SEMVER_EQ', value: '1.2.3-rc.1+build.5' }],
  [true, { operator: 'SEMVER_GTE', value: '0.0.0' }],
  [false, { operator: 'SEMVER_EQ', value: '1.2' }],
  [false, { operator: 'SEMVER_EQ', value: '01.2.3' }],
  [false, { operator: 'SEMVER_EQ', value: '1.2.3-01' }],
  [false, { operator: 'SEMVER_EQ', value: 'v1.2.3' }],
].map(([valid, constraint]) => [valid as boolean, { contextName: 'userId', ...(constraint as object) }]);

const segmentsOf = constraints.map(([valid, constraint]) => [valid, { name: 'a', constraints: [constraint] }] as const);

const variant = { name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' };
const strategies = [
  ...constraints.map(([valid, constraint]) => [valid, { name: 'default', constraints: [constraint] }] as const),
  [true, { name: 'default', variants: [variant] }] as const,
  [false, { name: 'default', variants: [{ ...variant, name: 'a b' }] }] as const,
  [false, { name: 'default', variants: [{ ...variant, stickiness: '' }] }] as const,
];

const role = (permission: object, type?: string) => ({
  name: 'Keeper',
  permissions: [permission],
  ...(type === undefined ? {} : { type }),
});
const roles = [
  [true, role({ name: 'CREATE_FEATURE' }, 'custom')],
  [true, role({ name: 'CREATE_SEGMENT' }, 'root-custom')],
  [true, role({ name: 'UPDATE_FEATURE_STRATEGY', environment: 'production' }, 'custom')],
  [true, role({ name: 'CREATE_FEATURE', environment: '' })],
  [true, role({ name: 'CREATE_FEATURE', environment: null })],
  [false, role({ name: 'CREATE_SEGMENT' }, 'custom')],
  [false, role({ name: 'CREATE_FEATURE', environment: 'production' }, 'root-custom')],
  [false, role({ name: 'ADMIN' }, 'root-custom')],
] as const;

const step = (patch: object) => [patch];
const nothingMore = (): undefined => undefined;

const cases: readonly (readonly [
  AnyOperation,
  readonly (readonly [boolean, unknown])[],
  ((body: never) => unknown)?,
])[] = [
  [ValidateConstraint, constraints],
  [AddStrategy, strategies],
  [CreateSegment, segmentsOf],
  [UpdateSegment, segmentsOf],
  [
    CreateProjectApiToken,
    [
      [true, { tokenName: 'a', type: 'Client' }],
      [true, { username: 'a', type: 'backend', projects: ['default'] }],
      [false, { tokenName: 'a', type: 'browser' }],
      [false, { tokenName: 'a', type: 'client', projects: [] }],
      [false, { type: 'client' }],
    ],
  ],
  [CreateRole, [...roles, [false, role({ name: 'CREATE_SEGMENT' })]], (body: RoleBody) => parseRole(body)],
  [
    UpdateRole,
    [...roles, [true, role({ name: 'CREATE_SEGMENT' })]],
    (body: RoleBody) => parseRole({ ...body, type: body.type ?? 'root-custom' }),
  ],
  [
    SetFeatureVariants,
    [
      [true, [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }]],
      [false, [{ name: '', weight: 1000 }]],
      [false, [{ name: 'a b', weight: 1000 }]],
      [false, [{ name: 'blue', weight: 1000, stickiness: '' }]],
    ],
  ],
  [
    PatchFeature,
    [
      [true, step({ op: 'replace', path: '/description', value: 'x' })],
      [true, step({ op: 'replace', path: '', value: {} })],
      [true, step({ op: 'copy', path: '/description', from: '/type' })],
      [true, step({ op: 'remove', path: '/a~1b~0c' })],
      [false, step({ op: 'copy', path: '/description' })],
      [false, step({ op: 'remove', path: '' })],
      [false, step({ op: 'move', path: '', from: '/description' })],
      [false, step({ op: 'replace', path: '', value: 'text' })],
      [false, step({ op: 'replace', path: 'description', value: 'x' })],
      [false, step({ op: 'replace', path: '/a~2', value: 'x' })],
    ],
  ],
  [
    AddComment,
    [
      [true, { text: `  ${'x'.repeat(1000)}\n` }],
      [true, { text: '🎏'.repeat(1000) }],
      [true, { text: 'x' }],
      [false, { text: ' \t' }],
      [false, { text: 'x'.repeat(1001) }],
    ],
  ],
  [
    SetTitle,
    [
      [true, { title: ` ${'x'.repeat(255)} ` }],
      [false, { title: '' }],
      [false, { title: 'x'.repeat(256) }],
    ],
  ],
  [
    CloneEnvironment,
    [
      [true, { name: 'staging' }],
      [false, { name: '' }],
      [false, { name: 'a/b' }],
    ],
  ],
];

describe.each(cases.map(([operation, bodies, judge = nothingMore]) => ({ operation, bodies, judge })))(
  'the body of $operation.operationId',
  ({ operation, bodies, judge }) => {
    const named = bodies.map(([valid, body]) => ({ valid, body, text: JSON.stringify(body).slice(0, 150) }));
    const isDocumented = documents(operation);

    it.each(named)('is documented as it is validated: $text', ({ valid, body }) => {
      expect(isDocumented(body)).toBe(valid);
      expect(accepts(operation, judge)(body)).toBe(valid);
    });
  },
);
