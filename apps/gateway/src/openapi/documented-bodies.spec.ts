import {
  AddComment,
  AddStrategy,
  type AnyOperation,
  CloneEnvironment,
  CreateProjectApiToken,
  CreateRole,
  CreateSegment,
  httpOperations,
  PatchFeature,
  Refusal,
  type RoleBody,
  SetFeatureVariants,
  SetTitle,
  UpdateRole,
  UpdateSegment,
  ValidateConstraint,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseRole } from '../access/roles/role.ts';
import { openApiDocument } from '../http/openapi/openapi-document.ts';

const document = openApiDocument(httpOperations);

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

describe.each(
  cases.map(([operation, bodies, judge = nothingMore]) => ({ operation, bodies, judge })),
)('the body of $operation.operationId', ({ operation, bodies, judge }) => {
  const named = bodies.map(([valid, body]) => ({ valid, body, text: JSON.stringify(body).slice(0, 150) }));

  it.each(named)('is documented as it is validated: $text', ({ valid, body }) => {
    expect(documents(operation)(body)).toBe(valid);
    expect(accepts(operation, judge)(body)).toBe(valid);
  });
});
