import type { ImportReport } from '@bunting/contracts';
import { writeFileSync } from 'node:fs';
import { countOption, optionError, type OptionValues, runCommand, urlOption, UsageError } from './command.ts';
import { moveAccess } from './import/access-from-unleash.ts';
import { moveFromUnleash, readSdkTokens } from './import/from-unleash.ts';
import {
  batchesOf,
  type Export,
  readExports,
  createMissingSegments,
  readSegmentFile,
  type SendRequest,
  ContentRefused,
  ImportError,
  apiClient,
  withFeatureNames,
} from './import/import-batches.ts';
import { Refusals } from './import/refusals.ts';
import { progressDisplay } from './progress-display.ts';

const help = `Moves everything from an Unleash server, or imports what one has exported, of whatever size, through the public API.

  npm run import -- --url URL --from URL
  npm run import -- --from URL --tokens FILE
  npm run import -- --url URL --project ID --environment NAME [options] FILE…

  --url URL           the server, such as http://localhost:4242
  --token TOKEN       an admin token, or one with the permissions of the import; or set BUNTING_TOKEN
  --from URL          the Unleash server that everything is moved from: environments, projects, tag types, context fields, strategy
                      types and segments that are missing, and the features of each project in each of its environments
  --access            moves users, groups, custom roles and the roles in projects from it as well, and then protects the environments
                      that its change requests protect
  --from-token TOKEN  an admin token of it; or set UNLEASH_TOKEN
  --tokens FILE       writes the tokens of its SDKs to this file, as settings of the first start of Bunting, instead of moving anything

  --project ID        the project to import into
  --environment NAME  the environment of strategies and states
  --segments FILE     a response of GET /api/admin/segments: missing segments that the exports use are created
  --part N            features per request (default 500)

FILE is a response of POST /api/admin/features-batch/export for one environment. All files are read and validated before the first
request. Features are sent in batches, parents before their children; a batch is imported completely or not at all. Features that
are already equal stay unchanged: after an interruption, run the same command again.`;

/** How many features of a project in an environment may be refused before the others are left out. */
const maxRefusedFeatures = 50;

/** The maximum bytes of the features in one request. */
const maxBatchBytes = 1_000_000;

const options = {
  url: { type: 'string' },
  from: { type: 'string' },
  'from-token': { type: 'string', default: process.env['UNLEASH_TOKEN'] ?? '' },
  access: { type: 'boolean', default: false },
  tokens: { type: 'string' },
  token: { type: 'string', default: process.env['BUNTING_TOKEN'] ?? '' },
  project: { type: 'string' },
  environment: { type: 'string' },
  segments: { type: 'string' },
  part: { type: 'string', default: '500' },
} as const;

function taskOf(values: OptionValues<typeof options>, files: readonly string[]) {
  const { url = '', token, from, project = '', environment = '', segments, part, tokens, access } = values;
  const requireGiven = (given: Readonly<Record<string, string>>): void => {
    for (const [name, value] of Object.entries(given)) if (value === '') throw optionError(`--${name} is missing.`);
  };
  const size = { features: countOption('part', part), bytes: maxBatchBytes };
  if (tokens !== undefined && from === undefined) throw optionError('--tokens needs --from.');
  if (access && (from === undefined || tokens !== undefined)) throw optionError('--access needs --from and --url.');
  if (from !== undefined) {
    if (files.length > 0 || [project, environment, segments ?? ''].some((value) => value !== ''))
      throw optionError('With --from everything is moved: leave out --project, --environment, --segments and files.');
    requireGiven({ 'from-token': values['from-token'], ...(tokens === undefined ? { url, token } : {}) });
    const source = apiClient(urlOption('--from', from), values['from-token']);
    if (tokens !== undefined) return { kind: 'tokens', source, file: tokens } as const;
    return { kind: 'move', source, target: apiClient(urlOption('--url', url), token), access, size } as const;
  }
  requireGiven({ url, token, project, environment });
  if (files.length === 0) throw optionError('No FILE is named.');
  const target = apiClient(urlOption('--url', url), token);
  return { kind: 'files', target, project, environment, segments, files, size } as const;
}
type Task = ReturnType<typeof taskOf>;

const counts = [
  'created',
  'updated',
  'unchanged',
  'strategies',
  'tags',
  'tagTypes',
  'contextFields',
  'dependencies',
] as const;

function sumOf(reports: readonly ImportReport[]): ImportReport {
  const sums = counts.map((name) => [name, reports.reduce((sum, report) => sum + report[name], 0)] as const);
  const skipped = reports.flatMap((report) => report.skipped);
  return { ...(Object.fromEntries(sums) as Record<(typeof counts)[number], number>), skipped };
}

interface ImportAllOptions {
  /** the project and the environment */
  readonly target: object;
  /** takes a feature that is refused, and why, so that the rest of its batch is imported; without it the import ends */
  readonly onRefused?: (feature: string, reason: string) => void;
}

async function importAll(
  send: SendRequest,
  exports: readonly Export[],
  { target, onRefused }: ImportAllOptions,
): Promise<readonly ImportReport[]> {
  const total = exports.reduce((sum, { features }) => sum + features, 0);
  const progress = progressDisplay(process.stderr, { total, what: 'features' });
  const reports: ImportReport[] = [];
  let importedCount = 0;
  const importBatch = async (file: string, data: Export['parts'][number]): Promise<void> => {
    const names = data.features.map(({ name }) => name);
    try {
      reports.push(await send<ImportReport>('POST', '/api/admin/features-batch/import', { ...target, data }));
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      const reason = withFeatureNames(error.message, data);
      if (error instanceof ContentRefused && onRefused !== undefined) {
        if (names.length === 1) return onRefused(names[0] ?? '', reason);
        const halves = batchesOf(data, { features: Math.ceil(names.length / 2), bytes: Number.POSITIVE_INFINITY });
        for (const half of halves) await importBatch(file, half);
        return;
      }
      const batchText = `${file}, ${names.length} features from "${names[0] ?? ''}" to "${names.at(-1) ?? ''}"`;
      const progressText = `${importedCount} of ${total} features are in and stay; the same command goes on from there.`;
      throw new ImportError(`${batchText}:\n${reason}\n${progressText}`, { cause: error });
    }
    importedCount += names.length;
    progress.to(importedCount);
  };
  try {
    for (const { file, parts } of exports) for (const data of parts) await importBatch(file, data);
  } finally {
    progress.end();
  }
  return reports;
}

async function importFiles({
  target,
  project,
  environment,
  segments,
  files,
  size,
}: Extract<Task, { kind: 'files' }>): Promise<readonly ImportReport[]> {
  const listedSegments = segments === undefined ? undefined : readSegmentFile(segments);
  const exports = readExports(files, size, listedSegments);
  if (listedSegments !== undefined) {
    const created = await createMissingSegments(target, { listedSegments, exports, project });
    console.error(created.length === 0 ? 'No segment was missing.' : `Segments created: ${created.join(', ')}`);
  }
  return importAll(target, exports, { target: { project, environment } });
}

async function move({ access, ...task }: Extract<Task, { kind: 'move' }>): Promise<readonly ImportReport[]> {
  const servers = { ...task, refusals: new Refusals(), log: (line: string) => console.error(line) };
  const reports = await moveFromUnleash({
    ...servers,
    importFeatures: (features, into) => {
      let refusedCount = 0;
      return importAll(task.target, [features], {
        target: into,
        onRefused: (feature, reason) => {
          refusedCount += 1;
          if (refusedCount > maxRefusedFeatures) throw new ContentRefused('Too many features are refused.');
          servers.refusals.add(`${feature} in ${into.environment}`, reason);
        },
      });
    },
  });
  if (access) await moveAccess(servers);
  servers.refusals.throwIfAny();
  return reports;
}

/** Writes the tokens of SDKs to a new file that its owner alone may read. */
async function writeTokens({ source, file }: Extract<Task, { kind: 'tokens' }>): Promise<void> {
  const { client, frontend, left } = await readSdkTokens(source);
  const lines = [`INIT_CLIENT_API_TOKENS=${client.join(',')}`, `INIT_FRONTEND_API_TOKENS=${frontend.join(',')}`];
  try {
    writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`);
  }
  for (const { name, reason } of left) console.error(`left out: ${name}: ${reason}`);
  console.error(`${client.length} client and ${frontend.length} frontend tokens are in ${file}.`);
}

await runCommand({ help, options, takesArguments: true }, async (values, files) => {
  const task = taskOf(values, files);
  if (task.kind === 'tokens') return writeTokens(task);
  const startedAt = performance.now();
  const reports = await (task.kind === 'files' ? importFiles(task) : move(task));
  const { skipped, ...report } = sumOf(reports);
  for (const { changeRequest } of reports) {
    if (changeRequest === undefined) continue;
    const { id = 'one that is still to be made', changes, environment: proposalEnvironment } = changeRequest;
    console.error(`proposed in ${proposalEnvironment}: ${changes} changes, in change request ${id}`);
  }
  for (const { feature, reason } of skipped) console.error(`skipped: ${feature}: ${reason}`);
  console.error(`Done in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`);
  console.log(JSON.stringify({ ...report, skipped: skipped.length }));
});
