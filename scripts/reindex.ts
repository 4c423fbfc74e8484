import { setTimeout as sleep } from 'node:timers/promises';
import { optionError, runCommand, urlOption } from './command.ts';

const help = `Rebuilds the search documents from the features service, and then the Meilisearch index, if there is one. Searches continue
meanwhile and miss nothing. The rebuild is done by the search service: it goes on when this command ends or Bunting is away for a while.

  BUNTING_ADMIN_TOKEN=… npm run reindex
  npm run reindex -- --url http://bunting.example:4242 --token '*:*.…'

  --url    where Bunting is; default: BUNTING_URL, or http://127.0.0.1:4242
  --token  an admin token; default: BUNTING_ADMIN_TOKEN`;

interface Reindex {
  readonly state: 'running' | 'done' | 'failed';
  readonly done: number;
  readonly all: number;
  readonly reason: string | null;
}

/** The failure of a request for which a retry is useless. */
class PermanentError extends Error {}

async function send(method: 'GET' | 'POST', url: string, token: string): Promise<Reindex> {
  const response = await fetch(new URL('/api/admin/search/reindex', url), {
    method,
    headers: { authorization: token },
    signal: AbortSignal.timeout(10_000),
  }).catch((error: unknown) => {
    throw new Error(`There is no Bunting at ${url}.`, { cause: error });
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as Reindex;
  const message = messageIn(text) ?? `Bunting answered ${response.status}.`;
  throw response.status < 500 && response.status !== 429 ? new PermanentError(message) : new Error(message);
}

/** The message of an error from Bunting; undefined for another body, such as the HTML page of a load balancer. */
function messageIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { message?: string }).message;
  } catch {
    return undefined;
  }
}

const retryPauseMs = 1_000;
const maxFailedPolls = 60;

/** Reads the progress, and retries for about a minute: the rebuild goes on while a gateway restarts. */
async function readProgress(url: string, token: string): Promise<Reindex> {
  for (let failures = 1; ; failures++) {
    try {
      return await send('GET', url, token);
    } catch (error) {
      if (error instanceof PermanentError || failures === maxFailedPolls) {
        const reason = (error as Error).message;
        throw new Error(`The progress cannot be read, and the rebuild may go on: ${reason}`, { cause: error });
      }
      await sleep(retryPauseMs);
    }
  }
}

const width = 40;

function bar({ done, all }: Reindex): string {
  const share = all === 0 ? 0 : done / all;
  const full = Math.round(share * width);
  return `[${'█'.repeat(full)}${'·'.repeat(width - full)}] ${Math.floor(share * 100)} %  ${done} of ${all}`;
}

function show(line: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${line}\u001b[K`);
  else console.log(line);
}

await runCommand({ help, options: { url: { type: 'string' }, token: { type: 'string' } } }, async (values) => {
  const url =
    values.url === undefined
      ? urlOption('BUNTING_URL', process.env['BUNTING_URL'] ?? 'http://127.0.0.1:4242')
      : urlOption('--url', values.url);
  const token = values.token ?? process.env['BUNTING_ADMIN_TOKEN'];
  if (token === undefined) throw optionError('There is no admin token.');
  let reindex = await send('POST', url, token);
  for (let shownLine = ''; reindex.state === 'running'; reindex = await readProgress(url, token)) {
    const line = bar(reindex);
    if (line !== shownLine) show(line);
    shownLine = line;
    await sleep(300);
  }
  if (reindex.state === 'failed') throw new Error(`The reindex failed: ${reindex.reason ?? ''}`);
  show(bar(reindex));
  console.log(process.stdout.isTTY ? '\nDone.' : 'Done.');
});
