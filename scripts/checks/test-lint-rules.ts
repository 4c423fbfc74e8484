import type { ESLint } from 'eslint';
import path from 'node:path';

/** Code that lint must refuse or accept in a file of the repository. The file need not exist. */
interface Sample {
  readonly file: string;
  readonly code: string;
  /** the rule that must refuse the code; undefined for code that lint must accept */
  readonly rule?: string;
}

const projects = '@nx/enforce-module-boundaries';
const imports = 'no-restricted-imports';
const syntax = 'no-restricted-syntax';
const globals = 'no-restricted-globals';

const importSamples = (file: string, names: readonly string[], rule?: string): readonly Sample[] =>
  names.map((name) => ({ file, code: `import '${name}';\n`, ...(rule === undefined ? {} : { rule }) }));

const codeSamples = (file: string, statements: readonly string[], rule?: string): readonly Sample[] =>
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

/** A call of an operation that the service need not have declared. */
const anyCall = "export { call } from '@bunting/bus';";

const samples: readonly Sample[] = [
  ...[operation, subscription, composition, gatewayPart, 'apps/gateway/src/http/sample.ts'].flatMap((file) =>
    codeSamples(file, [anyCall], imports),
  ),
  ...codeSamples(
    'apps/search/src/reconciler/sample.ts',
    [anyCall, anyCall.replace('call', 'callForResponse')],
    imports,
  ),
  ...codeSamples('apps/gateway/src/http/sample.ts', [anyCall.replace('call', 'callForResponse')]),
  ...codeSamples('apps/search/src/calls.ts', ["export { callsOf } from '@bunting/bus';"]),

  // Between projects.
  ...importSamples('libs/contracts/src/sample.ts', ['@bunting/bus', '@bunting/database'], projects),
  ...importSamples(
    'libs/contracts/src/sample.ts',
    ['pg', '@fastify/static', 'node:fs', 'node:crypto', 'semver', 'ajv', 'ajv-formats'],
    imports,
  ),
  ...importSamples('libs/contracts/src/sample.ts', ['typebox', 'typebox/value', './errors.ts']),
  ...importSamples('libs/contracts/src/validation/sample.ts', ['node:crypto', 'semver'], imports),
  ...importSamples('libs/contracts/src/validation/sample.ts', ['typebox', 'ajv', 'ajv-formats', '../errors.ts']),
  ...importSamples('libs/bus/src/sample.ts', ['@bunting/runtime', '@bunting/outbox', '@bunting/database'], projects),
  ...importSamples('libs/bus/src/sample.ts', ['@bunting/contracts', '@nats-io/jetstream']),
  ...importSamples('libs/database/src/sample.ts', ['@bunting/bus', '@bunting/outbox'], projects),
  ...importSamples('libs/database/src/sample.ts', ['@bunting/contracts', 'pg']),
  ...importSamples('libs/outbox/src/sample.ts', ['@bunting/embedded-postgres'], projects),
  ...importSamples('libs/outbox/src/sample.ts', ['@nats-io/jetstream'], imports),
  ...importSamples('libs/outbox/src/sample.ts', [
    '@bunting/contracts',
    '@bunting/bus',
    '@bunting/database',
    '@bunting/runtime',
  ]),
  ...importSamples('libs/evaluation/src/sample.ts', ['@bunting/bus', '@bunting/database'], projects),
  ...importSamples('libs/evaluation/src/sample.ts', ['node:fs', 'lru-cache'], imports),
  ...importSamples('libs/evaluation/src/sample.ts', ['@bunting/contracts', 'semver', 're2js', './strategy.ts']),
  ...importSamples('libs/runtime/src/sample.ts', ['@bunting/database', '@bunting/outbox'], projects),
  ...importSamples('libs/runtime/src/sample.ts', ['@bunting/contracts', '@bunting/bus', '@bunting/tracing']),
  ...importSamples('libs/tracing/src/sample.ts', ['@bunting/contracts', '@bunting/runtime'], projects),
  ...importSamples('libs/tracing/src/sample.ts', ['@opentelemetry/api', '@opentelemetry/sdk-trace']),
  ...importSamples('libs/bus/src/sample.ts', ['@opentelemetry/api'], imports),
  ...importSamples(composition, ['@opentelemetry/sdk-trace'], imports),
  ...importSamples('libs/embedded-postgres/src/sample.ts', ['@bunting/contracts', '@bunting/runtime'], projects),
  ...importSamples('libs/testing/src/sample.ts', ['@bunting/bus', '@bunting/database'], projects),
  ...importSamples('libs/testing/src/sample.ts', ['@bunting/embedded-postgres']),
  ...importSamples(console, ['@bunting/gateway', '@bunting/bus', '@bunting/runtime', '@bunting/evaluation'], projects),
  ...importSamples(console, ['node:fs', 'pg', 'fastify', '@bunting/testing', '@bunting/contracts/validation'], imports),
  ...importSamples(console, ['@bunting/contracts', 'react', './table.tsx']),
  ...importSamples('libs/bus/src/sample.ts', ['../../contracts/src/index.ts'], projects),
  ...importSamples(composition, ['@bunting/audit', '@bunting/gateway', '../../audit/src/service.ts'], projects),
  ...importSamples('apps/gateway/src/service.ts', ['@bunting/features', '@bunting/all-in-one'], projects),
  ...importSamples('apps/change-requests/src/sample.spec.ts', ['@bunting/features'], projects),
  ...importSamples(composition, [
    '@bunting/bus',
    '@bunting/contracts',
    '@bunting/database',
    '@bunting/outbox',
    '@bunting/runtime',
  ]),
  ...importSamples(allInOne, [
    '@bunting/features',
    '@bunting/gateway',
    '@bunting/runtime',
    '@bunting/embedded-postgres',
  ]),
  ...importSamples(allInOne, ['@bunting/database', '@bunting/outbox'], projects),

  // Imports of helpers for tests.
  ...importSamples(
    'libs/bus/src/sample.ts',
    ['@bunting/testing', '../test/bus-behaviour.ts', './nats.spec.ts'],
    imports,
  ),
  ...importSamples(composition, ['@bunting/testing', '../test/builders.ts'], imports),
  ...importSamples(domain, ['@bunting/testing', '../../test/builders.ts'], imports),
  ...importSamples(operation, ['../../../test/builders.ts'], imports),
  ...importSamples(allInOne, ['@bunting/testing', '../test/platform.ts'], imports),
  ...importSamples('libs/bus/src/sample.spec.ts', ['@bunting/testing', '../test/bus-behaviour.ts']),
  ...importSamples('apps/features/src/domain/sample.spec.ts', [
    '@bunting/testing',
    '../../test/builders.ts',
    'fast-check',
  ]),
  ...importSamples('apps/features/test/sample.ts', ['@bunting/testing', '@bunting/database', '../src/service.ts']),
  ...importSamples('apps/all-in-one/test/sample.ts', ['@bunting/testing', '@bunting/features']),

  // Between the folders of a service.
  ...importSamples(
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
  ...importSamples(
    domain,
    ['../persistence/migrations.ts', '../operations/strategies/patch-strategy.ts', '../config.ts'],
    imports,
  ),
  ...importSamples(deeper, ['../../persistence/migrations.ts', '../../service.ts', 'pg'], imports),
  ...importSamples(deepest, ['../../../../../../../persistence/migrations.ts', 'pg'], imports),
  ...importSamples(domain, [
    '@bunting/contracts',
    './feature.ts',
    './changes/action-handlers.ts',
    'semver',
    'fast-json-patch',
    're2js',
  ]),
  ...importSamples(deepest, ['../../../../strategy.ts', '@bunting/contracts']),
  ...importSamples(deeper, ['../strategy.ts', './add-strategy.ts', '@bunting/contracts']),
  ...codeSamples(
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
  ...codeSamples(
    domain,
    ['Date.now();', 'new Date();', 'Date();', 'Math.random();', 'void import("./feature.ts");'],
    syntax,
  ),
  ...codeSamples(domain, ['export const then = new Date("2026-01-01");', 'export const most = Math.max(1, 2);']),
  ...codeSamples('apps/features/src/domain/sample.spec.ts', ['export const now = new Date();']),
  ...importSamples(
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
  ...importSamples(
    'apps/gateway/src/persistence/accounts/sample.ts',
    ['../../scim/scim-error.ts', '../../service.ts'],
    imports,
  ),
  ...importSamples('apps/gateway/src/persistence/accounts/sample.ts', ['../../domain/refusals.ts', '../entities.ts']),
  ...importSamples(
    'apps/search/src/persistence/sample.ts',
    ['../config.ts', '../reconciler/sample.ts', 'fastify'],
    imports,
  ),
  ...importSamples('apps/search/src/persistence/sample.ts', [
    '../domain/parse-feature-filters.ts',
    '../feature-search.ts',
  ]),
  ...importSamples(persistence, [
    '../domain/feature.ts',
    '@bunting/contracts',
    '@bunting/outbox',
    '@bunting/database',
    '@mikro-orm/postgresql',
  ]),
  ...importSamples(
    operation,
    ['fastify', 'node:http', 'pg', '@mikro-orm/core', '@bunting/database', '@nats-io/jetstream'],
    imports,
  ),
  ...importSamples('apps/gateway/src/operations/sample.ts', ['fastify', '@bunting/database'], imports),
  ...importSamples(operation, [
    '../../domain/strategy.ts',
    '../../persistence/unit-of-work.ts',
    '@bunting/bus',
    '@bunting/outbox',
    '@bunting/contracts',
  ]),
  ...importSamples(subscription, ['fastify', 'pg', '@bunting/database'], imports),
  ...importSamples(subscription, ['@bunting/outbox', '@bunting/contracts', '../persistence/unit-of-work.ts']),
  ...codeSamples(subscription, ["import type { Database } from '@bunting/database';\nexport type Known = Database;"]),
  ...importSamples(
    'apps/gateway/src/http/mount-operation.ts',
    ['@bunting/database', 'pg', '@nats-io/jetstream'],
    imports,
  ),
  ...importSamples('apps/gateway/src/http/mount-operation.ts', ['fastify', 'node:http', '@bunting/bus']),
  ...importSamples(
    gatewayPart,
    ['@bunting/database', 'pg', '@nats-io/jetstream', '@bunting/embedded-postgres'],
    imports,
  ),
  ...importSamples(gatewayPart, ['fastify', '@bunting/outbox', '@bunting/runtime']),
  ...codeSamples(gatewayPart, ["import type { Database } from '@bunting/database';\nexport type Opened = Database;"]),

  // Background jobs.
  ...codeSamples(composition, ['setInterval(() => undefined, 1_000);'], globals),
  ...codeSamples('libs/outbox/src/producer/sample.ts', ['setInterval(() => undefined, 1_000);'], globals),
  ...codeSamples(domain, ['setInterval(() => undefined, 1_000);'], globals),
  ...codeSamples('libs/bus/src/nats/call-protocol.ts', ['setInterval(() => undefined, 1_000);']),
  ...codeSamples('libs/bus/src/sample.spec.ts', ['setInterval(() => undefined, 1_000);']),
  ...codeSamples(composition, ['setTimeout(() => undefined, 1_000);']),

  // How code is written everywhere.
  ...codeSamples('libs/bus/src/sample.ts', ['export default 1;', 'export enum Kind { One }'], syntax),
  ...codeSamples(
    'libs/bus/src/sample.ts',
    [
      'export const two = { one: 1, ...{ two: 2 } };',
      'export const two = [1, ...[2]];',
      'export const two = Math.max(...([1, 2] as const));',
    ],
    syntax,
  ),
  ...codeSamples('libs/bus/src/sample.ts', ["import './bus.ts';\nimport 'pg';"], syntax),
  ...codeSamples('libs/bus/src/sample.ts', ["import 'pg';\nimport './bus.ts';\nimport '../bus.ts';"]),
  ...codeSamples('libs/bus/src/sample.ts', [
    'export const some = (all: boolean) => ({ one: 1, ...(all && { two: 2 }) });',
    'export const some = (all: boolean) => [1, ...(all ? [2] : [])];',
    'export const some = [...[1, 2].map((nth) => nth + 1)];',
  ]),
  ...codeSamples(
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
  ...codeSamples('libs/bus/src/sample.spec.ts', [
    'expect(Date.now()).toBeGreaterThan(deadline);',
    'await expect(find(new Date(Date.now() - 1))).rejects.toThrow();',
    'export const yesterday = new Date(Date.now() - 86_400_000);',
  ]),
  ...codeSamples('libs/bus/src/sample.perf.ts', ['expect(performance.now() - before).toBeLessThan(1_000);']),
  ...codeSamples('libs/bus/src/sample.ts', ['export const one: any = 1;'], '@typescript-eslint/no-explicit-any'),
  ...codeSamples(
    'libs/bus/src/sample.ts',
    ['/* eslint-disable */\nexport const one: any = 1;'],
    '@typescript-eslint/no-explicit-any',
  ),
  ...codeSamples(
    'libs/bus/src/sample.ts',
    ['import { One } from "./one.ts";\nexport type Two = One;'],
    '@typescript-eslint/consistent-type-imports',
  ),
];

const faultOf = async (eslint: ESLint, { file, code, rule }: Sample): Promise<string[]> => {
  const [result] = await eslint.lintText(code, { filePath: path.join(import.meta.dirname, '../..', file) });
  const violatedRules = (result?.messages ?? [])
    .filter(({ severity }) => severity === 2)
    .map(({ ruleId, message }) => ruleId ?? message);
  const isExpected = rule === undefined ? violatedRules.length === 0 : violatedRules.includes(rule);
  const outcome = violatedRules.length === 0 ? 'lets it through' : `refuses it by ${violatedRules.join(', ')}`;
  return isExpected
    ? []
    : [
        `${file}: ${code.trim()}\n    should be ${rule === undefined ? 'let through' : `refused by ${rule}`}, but lint ${outcome}`,
      ];
};

/** Lints samples that each rule must reject or accept. Returns the number of samples, and a sentence for each sample with another result. */
export const testLintRules = async (eslint: ESLint): Promise<{ samples: number; faults: readonly string[] }> => {
  const faults = [];
  for (const sample of samples) faults.push(...(await faultOf(eslint, sample)));
  return { samples: samples.length, faults };
};
