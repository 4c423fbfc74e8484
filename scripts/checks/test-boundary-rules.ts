import type { ESLint } from 'eslint';
import path from 'node:path';

/** Code that lint must refuse, or must let through, at a place in the repository. No such files exist. */
interface Sample {
  readonly file: string;
  readonly code: string;
  /** the rule that must refuse it; none where it must be let through */
  readonly rule?: string;
}

const projects = '@nx/enforce-module-boundaries';
const imports = 'no-restricted-imports';
const syntax = 'no-restricted-syntax';
const globals = 'no-restricted-globals';

const importing = (file: string, names: readonly string[], rule?: string): readonly Sample[] =>
  names.map((name) => ({ file, code: `import '${name}';\n`, ...(rule === undefined ? {} : { rule }) }));

const writing = (file: string, statements: readonly string[], rule?: string): readonly Sample[] =>
  statements.map((code) => ({ file, code: `${code}\n`, ...(rule === undefined ? {} : { rule }) }));

const domain = 'apps/features/src/domain/sample.ts';
const deeper = 'apps/features/src/domain/changes/sample.ts';
const deepest = 'apps/features/src/domain/one/two/three/four/five/six/sample.ts';
const persistence = 'apps/features/src/persistence/sample.ts';
const operation = 'apps/features/src/operations/strategies/sample.ts';
const subscription = 'apps/audit/src/subscriptions/sample.ts';
const composition = 'apps/features/src/service.ts';
const gatewayPart = 'apps/gateway/src/composition/sample.ts';
const console = 'apps/console/src/sample.tsx';
const allInOne = 'apps/all-in-one/src/sample.ts';

const samples: readonly Sample[] = [
  // Between projects.
  ...importing('libs/contracts/src/sample.ts', ['@bunting/bus', '@bunting/database'], projects),
  ...importing(
    'libs/contracts/src/sample.ts',
    ['pg', '@fastify/static', 'node:fs', 'node:crypto', 'semver', 'ajv', 'ajv-formats'],
    imports,
  ),
  ...importing('libs/contracts/src/sample.ts', ['typebox', 'typebox/value', './errors.ts']),
  ...importing('libs/contracts/src/validation/sample.ts', ['node:crypto', 'semver'], imports),
  ...importing('libs/contracts/src/validation/sample.ts', ['typebox', 'ajv', 'ajv-formats', '../errors.ts']),
  ...importing('libs/bus/src/sample.ts', ['@bunting/runtime', '@bunting/outbox', '@bunting/database'], projects),
  ...importing('libs/bus/src/sample.ts', ['@bunting/contracts', '@nats-io/jetstream']),
  ...importing('libs/database/src/sample.ts', ['@bunting/bus', '@bunting/outbox'], projects),
  ...importing('libs/database/src/sample.ts', ['@bunting/contracts', 'pg']),
  ...importing('libs/outbox/src/sample.ts', ['@bunting/embedded-postgres'], projects),
  ...importing('libs/outbox/src/sample.ts', ['@nats-io/jetstream'], imports),
  ...importing('libs/outbox/src/sample.ts', [
    '@bunting/contracts',
    '@bunting/bus',
    '@bunting/database',
    '@bunting/runtime',
  ]),
  ...importing('libs/evaluation/src/sample.ts', ['@bunting/bus', '@bunting/database'], projects),
  ...importing('libs/evaluation/src/sample.ts', ['node:fs', 'lru-cache'], imports),
  ...importing('libs/evaluation/src/sample.ts', ['@bunting/contracts', 'semver', 're2js', './strategy.ts']),
  ...importing('libs/runtime/src/sample.ts', ['@bunting/database', '@bunting/outbox'], projects),
  ...importing('libs/runtime/src/sample.ts', ['@bunting/contracts', '@bunting/bus', '@bunting/tracing']),
  ...importing('libs/tracing/src/sample.ts', ['@bunting/contracts', '@bunting/runtime'], projects),
  ...importing('libs/tracing/src/sample.ts', ['@opentelemetry/api', '@opentelemetry/sdk-trace']),
  ...importing('libs/bus/src/sample.ts', ['@opentelemetry/api'], imports),
  ...importing(composition, ['@opentelemetry/sdk-trace'], imports),
  ...importing('libs/embedded-postgres/src/sample.ts', ['@bunting/contracts', '@bunting/runtime'], projects),
  ...importing('libs/testing/src/sample.ts', ['@bunting/bus', '@bunting/database'], projects),
  ...importing('libs/testing/src/sample.ts', ['@bunting/embedded-postgres']),
  ...importing(console, ['@bunting/gateway', '@bunting/bus', '@bunting/runtime', '@bunting/evaluation'], projects),
  ...importing(console, ['node:fs', 'pg', 'fastify', '@bunting/testing', '@bunting/contracts/validation'], imports),
  ...importing(console, ['@bunting/contracts', 'react', './table.tsx']),
  ...importing('libs/bus/src/sample.ts', ['../../contracts/src/index.ts'], projects),
  ...importing(composition, ['@bunting/audit', '@bunting/gateway', '../../audit/src/service.ts'], projects),
  ...importing('apps/gateway/src/service.ts', ['@bunting/features', '@bunting/all-in-one'], projects),
  ...importing('apps/change-requests/src/sample.spec.ts', ['@bunting/features'], projects),
  ...importing(composition, [
    '@bunting/bus',
    '@bunting/contracts',
    '@bunting/database',
    '@bunting/outbox',
    '@bunting/runtime',
  ]),
  ...importing(allInOne, ['@bunting/features', '@bunting/gateway', '@bunting/runtime', '@bunting/embedded-postgres']),
  ...importing(allInOne, ['@bunting/database', '@bunting/outbox'], projects),

  // What is made for tests.
  ...importing('libs/bus/src/sample.ts', ['@bunting/testing', '../test/bus-behaviour.ts', './nats.spec.ts'], imports),
  ...importing(composition, ['@bunting/testing', '../test/builders.ts'], imports),
  ...importing(domain, ['@bunting/testing', '../../test/builders.ts'], imports),
  ...importing(operation, ['../../../test/builders.ts'], imports),
  ...importing(allInOne, ['@bunting/testing', '../test/platform.ts'], imports),
  ...importing('libs/bus/src/sample.spec.ts', ['@bunting/testing', '../test/bus-behaviour.ts']),
  ...importing('apps/features/src/domain/sample.spec.ts', ['@bunting/testing', '../../test/builders.ts', 'fast-check']),
  ...importing('apps/features/test/sample.ts', ['@bunting/testing', '@bunting/database', '../src/service.ts']),
  ...importing('apps/all-in-one/test/sample.ts', ['@bunting/testing', '@bunting/features']),

  // Between the folders of a service.
  ...importing(
    domain,
    [
      '@mikro-orm/core',
      '@nats-io/jetstream',
      'fastify',
      'pg',
      'node:fs',
      'node:crypto',
      'process',
      '@bunting/bus',
      '@bunting/outbox',
    ],
    imports,
  ),
  ...importing(
    domain,
    ['../persistence/migrations.ts', '../operations/strategies/patch-strategy.ts', '../config.ts'],
    imports,
  ),
  ...importing(deeper, ['../../persistence/migrations.ts', '../../service.ts', 'pg'], imports),
  ...importing(deepest, ['../../../../../../../persistence/migrations.ts', 'pg'], imports),
  ...importing(domain, [
    '@bunting/contracts',
    './feature.ts',
    './changes/action-handlers.ts',
    'semver',
    'fast-json-patch',
    're2js',
  ]),
  ...importing(deepest, ['../../../../strategy.ts', '@bunting/contracts']),
  ...importing(deeper, ['../strategy.ts', './add-strategy.ts', '@bunting/contracts']),
  ...writing(
    domain,
    [
      'process.exit();',
      'console.log(1);',
      'setTimeout(() => undefined, 1);',
      'crypto.randomUUID();',
      'void fetch("x");',
    ],
    globals,
  ),
  ...writing(
    domain,
    ['Date.now();', 'new Date();', 'Date();', 'Math.random();', 'void import("./feature.ts");'],
    syntax,
  ),
  ...writing(domain, ['export const then = new Date("2026-01-01");', 'export const most = Math.max(1, 2);']),
  ...writing('apps/features/src/domain/sample.spec.ts', ['export const now = new Date();']),
  ...importing(
    persistence,
    [
      '../operations/strategies/patch-strategy.ts',
      '../config.ts',
      'fastify',
      '@nats-io/jetstream',
      '@bunting/bus',
      '@bunting/runtime',
      '@bunting/embedded-postgres',
    ],
    imports,
  ),
  ...importing(
    'apps/gateway/src/persistence/identity/sample.ts',
    ['../../scim/scim-error.ts', '../../service.ts'],
    imports,
  ),
  ...importing('apps/gateway/src/persistence/identity/sample.ts', ['../../domain/refusals.ts', '../entities.ts']),
  ...importing(
    'apps/search/src/persistence/sample.ts',
    ['../config.ts', '../reconciler/sample.ts', 'fastify'],
    imports,
  ),
  ...importing('apps/search/src/persistence/sample.ts', ['../domain/parse-feature-filters.ts', '../feature-search.ts']),
  ...importing(persistence, [
    '../domain/feature.ts',
    '@bunting/contracts',
    '@bunting/outbox',
    '@bunting/database',
    '@mikro-orm/postgresql',
  ]),
  ...importing(
    operation,
    ['fastify', 'node:http', 'pg', '@mikro-orm/core', '@bunting/database', '@nats-io/jetstream'],
    imports,
  ),
  ...importing('apps/gateway/src/operations/sample.ts', ['fastify', '@bunting/database'], imports),
  ...importing(operation, [
    '../../domain/strategy.ts',
    '../../persistence/unit-of-work.ts',
    '@bunting/bus',
    '@bunting/outbox',
    '@bunting/contracts',
  ]),
  ...importing(subscription, ['fastify', 'pg', '@bunting/database'], imports),
  ...importing(subscription, ['@bunting/outbox', '@bunting/contracts', '../persistence/unit-of-work.ts']),
  ...writing(subscription, ["import type { Database } from '@bunting/database';\nexport type Known = Database;"]),
  ...importing('apps/gateway/src/http/mount-operation.ts', ['@bunting/database', 'pg', '@nats-io/jetstream'], imports),
  ...importing('apps/gateway/src/http/mount-operation.ts', ['fastify', 'node:http', '@bunting/bus']),
  ...importing(gatewayPart, ['@bunting/database', 'pg', '@nats-io/jetstream', '@bunting/embedded-postgres'], imports),
  ...importing(gatewayPart, ['fastify', '@bunting/outbox', '@bunting/runtime']),
  ...writing(gatewayPart, ["import type { Database } from '@bunting/database';\nexport type Opened = Database;"]),

  // How code is written everywhere.
  ...writing('libs/bus/src/sample.ts', ['export default 1;', 'export enum Kind { One }'], syntax),
  ...writing(
    'libs/bus/src/sample.ts',
    [
      'export const two = { one: 1, ...{ two: 2 } };',
      'export const two = [1, ...[2]];',
      'export const two = Math.max(...([1, 2] as const));',
    ],
    syntax,
  ),
  ...writing('libs/bus/src/sample.ts', [
    'export const some = (all: boolean) => ({ one: 1, ...(all && { two: 2 }) });',
    'export const some = (all: boolean) => [1, ...(all ? [2] : [])];',
    'export const some = [...[1, 2].map((nth) => nth + 1)];',
  ]),
  ...writing(
    'libs/bus/src/sample.spec.ts',
    [
      'expect(performance.now() - before).toBeLessThan(1_000);',
      'expect(Date.now() - before).toBeLessThan(1_000);',
      'expect(Math.round(performance.now() - before)).toBeLessThan(1_000);',
      'export const tookMs = performance.now() - before;',
      'export default 1;',
    ],
    syntax,
  ),
  ...writing('libs/bus/src/sample.spec.ts', [
    'expect(Date.now()).toBeGreaterThan(deadline);',
    'await expect(find(new Date(Date.now() - 1))).rejects.toThrow();',
    'export const yesterday = new Date(Date.now() - 86_400_000);',
  ]),
  ...writing('libs/bus/src/sample.perf.ts', ['expect(performance.now() - before).toBeLessThan(1_000);']),
  ...writing('libs/bus/src/sample.ts', ['export const one: any = 1;'], '@typescript-eslint/no-explicit-any'),
  ...writing(
    'libs/bus/src/sample.ts',
    ['/* eslint-disable */\nexport const one: any = 1;'],
    '@typescript-eslint/no-explicit-any',
  ),
  ...writing(
    'libs/bus/src/sample.ts',
    ['import { One } from "./one.ts";\nexport type Two = One;'],
    '@typescript-eslint/consistent-type-imports',
  ),
];

const faultOf = async (eslint: ESLint, { file, code, rule }: Sample): Promise<string[]> => {
  const [result] = await eslint.lintText(code, { filePath: path.join(import.meta.dirname, '../..', file) });
  const found = (result?.messages ?? [])
    .filter(({ severity }) => severity === 2)
    .map(({ ruleId, message }) => ruleId ?? message);
  const isRight = rule === undefined ? found.length === 0 : found.includes(rule);
  const seen = found.length === 0 ? 'lets it through' : `refuses it by ${found.join(', ')}`;
  return isRight
    ? []
    : [
        `${file}: ${code.trim()}\n    should be ${rule === undefined ? 'let through' : `refused by ${rule}`}, but lint ${seen}`,
      ];
};

/** Lints samples that each rule must reject or accept. Returns the number of samples, and a sentence for each sample with another result. */
export const testBoundaryRules = async (eslint: ESLint): Promise<{ samples: number; faults: readonly string[] }> => {
  const faults = [];
  for (const sample of samples) faults.push(...(await faultOf(eslint, sample)));
  return { samples: samples.length, faults };
};
