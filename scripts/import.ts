import type { ImportReport } from '@bunting/contracts';
import { parseArgs } from 'node:util';
import { countOption, optionError, runCommand, urlOption } from './command.ts';
import {
  type Export,
  readExports,
  createMissingSegments,
  readSegmentFile,
  type SendRequest,
  ImportError,
  apiClient,
} from './import/import-batches.ts';
import { progressDisplay } from './import/progress-display.ts';

const help = `Imports what Unleash exported, of whatever size, through the public API.

  npm run import -- --url URL --project ID --environment NAME [options] FILE…

  --url URL           the server, such as http://localhost:4242
  --token TOKEN       an admin token, or one with the permissions of the import; or set BUNTING_TOKEN
  --project ID        the project to import into
  --environment NAME  the environment of strategies and states
  --segments FILE     a response of GET /api/admin/segments: missing segments that the exports use are created
  --part N            features per request (default 500)

FILE is a response of POST /api/admin/features-batch/export for one environment. All files are read and validated before the first
request. Features are sent in batches, parents before their children; a batch is imported completely or not at all. Features that
are already equal stay unchanged: after an interruption, run the same command again.`;

/** The maximum bytes of the features in one request. */
const maxBatchBytes = 1_000_000;

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      url: { type: 'string' },
      token: { type: 'string', default: process.env['BUNTING_TOKEN'] ?? '' },
      project: { type: 'string' },
      environment: { type: 'string' },
      segments: { type: 'string' },
      part: { type: 'string', default: '500' },
    },
  });
  if (values.help === true) return undefined;
  const { url = '', token, project = '', environment = '', segments, part } = values;
  for (const [name, value] of Object.entries({ url, token, project, environment })) {
    if (value === '') throw optionError(`--${name} is missing.`);
  }
  if (positionals.length === 0) throw optionError('No FILE is named.');
  return {
    url: urlOption('--url', url),
    token,
    project,
    environment,
    segments,
    files: positionals,
    features: countOption('part', part),
  };
}

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

async function importAll(
  send: SendRequest,
  exports: readonly Export[],
  target: object,
): Promise<readonly ImportReport[]> {
  const total = exports.reduce((sum, { features }) => sum + features, 0);
  const progress = progressDisplay(process.stderr, total);
  const reports: ImportReport[] = [];
  let importedCount = 0;
  try {
    for (const { file, parts } of exports) {
      for (const data of parts) {
        try {
          reports.push(await send<ImportReport>('POST', '/api/admin/features-batch/import', { ...target, data }));
        } catch (error) {
          if (!(error instanceof ImportError)) throw error;
          const first = data.features[0]?.name ?? '';
          const last = data.features.at(-1)?.name ?? '';
          const batchText = `${file}, ${data.features.length} features from "${first}" to "${last}"`;
          const progressText = `${importedCount} of ${total} features are in and stay; the same command goes on from there.`;
          throw new ImportError(`${batchText}:\n${error.message}\n${progressText}`, { cause: error });
        }
        importedCount += data.features.length;
        progress.to(importedCount);
      }
    }
  } finally {
    progress.end();
  }
  return reports;
}

async function run(): Promise<void> {
  const options = readOptions();
  if (options === undefined) return console.log(help);
  const { url, token, project, environment, segments, files, features } = options;
  const startedAt = performance.now();
  const listedSegments = segments === undefined ? undefined : readSegmentFile(segments);
  const exports = readExports(files, { features, bytes: maxBatchBytes }, listedSegments);
  const send = apiClient(url, token);
  if (listedSegments !== undefined) {
    const created = await createMissingSegments(send, { listedSegments, exports, project });
    console.error(created.length === 0 ? 'No segment was missing.' : `Segments created: ${created.join(', ')}`);
  }
  const reports = await importAll(send, exports, { project, environment });
  const { skipped, ...report } = sumOf(reports);
  for (const { changeRequest } of reports) {
    if (changeRequest === undefined) continue;
    const { id = 'one that is still to be made', changes, environment: proposalEnvironment } = changeRequest;
    console.error(`proposed in ${proposalEnvironment}: ${changes} changes, in change request ${id}`);
  }
  for (const { feature, reason } of skipped) console.error(`skipped: ${feature}: ${reason}`);
  console.error(`Done in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`);
  console.log(JSON.stringify({ ...report, skipped: skipped.length }));
}

await runCommand(run);
