import {
  EvaluateFrontendFeatures,
  ReportFrontendMetrics,
  ReportProxiedMetrics,
  ValidateImport,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { readConfig } from '@bunting/runtime';
import type { TSchema } from 'typebox';
import { parseUntrustedJson } from '@bunting/http';
import { GatewayConfig } from '../../apps/gateway/src/config.ts';
import { runCommand } from '../command.ts';

const help = `Measures the CPU time that the gateway spends on the costliest bodies that it accepts: their JSON and their schema.

  npx node scripts/bench/body-validation.ts`;

const times = 9;
const settings = readConfig(GatewayConfig, { GATEWAY_DATABASE_URL: 'postgres://localhost/gateway' });
const ordinaryLimits = {
  bytes: settings.GATEWAY_MAX_BODY_BYTES,
  items: settings.GATEWAY_MAX_JSON_ITEMS,
  values: settings.GATEWAY_MAX_JSON_VALUES,
};
const largeLimits = {
  bytes: settings.GATEWAY_MAX_LARGE_BODY_BYTES,
  items: settings.GATEWAY_MAX_LARGE_JSON_ITEMS,
  values: settings.GATEWAY_MAX_LARGE_JSON_VALUES,
};
const { GATEWAY_MAX_JSON_MEMBERS: members, GATEWAY_MAX_JSON_DEPTH: depth } = settings;

/** Text with as many items between `beginning` and `end` as the limits of bytes and items permit. */
function fillList(
  beginning: string,
  item: (nth: number) => string,
  end: string,
  { bytes, count }: { readonly bytes: number; readonly count: number },
): string {
  const items: string[] = [];
  for (let size = beginning.length + end.length; items.length < count;) {
    const next = item(items.length);
    size += next.length + 1;
    if (size > bytes) break;
    items.push(next);
  }
  return `${beginning}${items.join()}${end}`;
}
/** The beginning of the JSON of a report, without its closing brace. */
const reportStart =
  '{"appName":"a","bucket":{"start":"2026-11-22T06:00:00Z","stop":"2026-11-22T06:01:00Z","toggles":{}}';
const escapedLetter = '\\u0041';
/** Lists with nearly the maximum number of items each, and together nearly the maximum number of values of a body. */
function listsOf(item: string, { values, items }: typeof ordinaryLimits): string {
  const share = 0.98;
  const length = Math.floor(items * share);
  return Array.from(
    { length: Math.floor((values * share) / length) },
    () => `[${Array(length).fill(item).join()}]`,
  ).join();
}
/** Completes the JSON of an object with a text of escapes, so that it has nearly `bytes` bytes. */
function padWithEscapes(text: string, bytes: number): string {
  return `${text},"q":"${escapedLetter.repeat(Math.floor((bytes - text.length - 10) / escapedLetter.length))}"}`;
}

const bodies: readonly [name: string, schema: TSchema, limits: typeof ordinaryLimits, json: string][] = [
  [
    'frontend report, one text',
    ReportFrontendMetrics.body,
    ordinaryLimits,
    `${reportStart},"q":"${'x'.repeat(ordinaryLimits.bytes - 200)}"}`,
  ],
  [
    'frontend report, zeros and escapes',
    ReportFrontendMetrics.body,
    ordinaryLimits,
    padWithEscapes(`${reportStart},"p":[${listsOf('0', ordinaryLimits)}]`, ordinaryLimits.bytes),
  ],
  [
    'frontend report, objects with escaped names',
    ReportFrontendMetrics.body,
    ordinaryLimits,
    padWithEscapes(
      `${reportStart},"p":[${listsOf('{"\\u0041":0}', { ...ordinaryLimits, values: ordinaryLimits.values / 2 })}]`,
      ordinaryLimits.bytes,
    ),
  ],
  [
    'frontend report, features and variants',
    ReportFrontendMetrics.body,
    ordinaryLimits,
    fillList(
      `${reportStart.slice(0, -2)}`,
      (nth) => `"t${nth}":{"yes":1,"no":1,"variants":{${Array.from({ length: 90 }, (_, v) => `"v${v}":1`).join()}}}`,
      '}}}',
      { bytes: ordinaryLimits.bytes, count: members - 1 },
    ),
  ],
  [
    'frontend context',
    EvaluateFrontendFeatures.body,
    ordinaryLimits,
    fillList('{"context":{"properties":{', (nth) => `"p${nth}":"${'x'.repeat(1_000)}"`, '}}}', {
      bytes: ordinaryLimits.bytes,
      count: members - 1,
    }),
  ],
  [
    'bulk report, zeros',
    ReportProxiedMetrics.body,
    largeLimits,
    `{"applications":[],"metrics":[],"p":[${listsOf('0', largeLimits)}]}`,
  ],
  [
    'bulk report, counts',
    ReportProxiedMetrics.body,
    largeLimits,
    fillList(
      '{"applications":[],"metrics":[',
      (nth) =>
        `{"featureName":"f${nth}","appName":"a","environment":"development","timestamp":"2026-11-22T06:00:00Z","yes":1,"no":1}`,
      ']}',
      { bytes: largeLimits.bytes, count: largeLimits.items - 1 },
    ),
  ],
  [
    'import',
    ValidateImport.body,
    largeLimits,
    fillList(
      '{"project":"default","environment":"development","data":{"features":[',
      (nth) => `{"name":"f${nth}","type":"release","description":"d","project":"default"}`,
      '],"featureStrategies":[],"tagTypes":[]}}',
      { bytes: largeLimits.bytes, count: largeLimits.items - 1 },
    ),
  ],
];

/** The median CPU time of a job, in milliseconds. */
function medianCpuMs(work: () => unknown): number {
  const durations = Array.from({ length: times }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return durations.sort((one, other) => one - other)[Math.floor(times / 2)] as number;
}

await runCommand({ help }, () => {
  for (const [name, schema, { items, values }, json] of bodies) {
    const body = Buffer.from(json);
    const ms = medianCpuMs(() => parse(schema, parseUntrustedJson(body, { depth, members, items, values }), '/body'));
    console.log(
      `${name.padEnd(45)} ${(body.length / 1_048_576).toFixed(2).padStart(6)} MiB ${ms.toFixed(1).padStart(7)} ms`,
    );
  }
});
