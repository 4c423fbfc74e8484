import { setTimeout as sleep } from 'node:timers/promises';

const help = `Rebuilds the search documents from the features service, and then the Meilisearch index, if there is one. Searches continue
meanwhile and miss nothing.

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

const given = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};

const url = given('url') ?? process.env['BUNTING_URL'] ?? 'http://127.0.0.1:4242';
const token = given('token') ?? process.env['BUNTING_ADMIN_TOKEN'];

const ask = async (method: 'GET' | 'POST'): Promise<Reindex> => {
  const response = await fetch(new URL('/api/admin/search/reindex', url), {
    method,
    headers: { authorization: token ?? '' },
    signal: AbortSignal.timeout(10_000),
  }).catch((error: unknown) => {
    throw new Error(`There is no Bunting at ${url}.`, { cause: error });
  });
  const body = (await response.json()) as Reindex & { message?: string };
  if (!response.ok) throw new Error(body.message ?? `Bunting answered ${response.status}.`);
  return body;
};

const width = 40;

const bar = ({ done, all }: Reindex): string => {
  const share = all === 0 ? 0 : done / all;
  const full = Math.round(share * width);
  return `[${'█'.repeat(full)}${'·'.repeat(width - full)}] ${Math.floor(share * 100)} %  ${done} of ${all}`;
};

const show = (line: string): void => {
  if (process.stdout.isTTY) process.stdout.write(`\r${line}\u001b[K`);
  else console.log(line);
};

const main = async (): Promise<void> => {
  if (process.argv.includes('--help')) return console.log(help);
  if (token === undefined) throw new Error(`There is no admin token.\n\n${help}`);
  let reindex = await ask('POST');
  for (let shown = ''; reindex.state === 'running'; reindex = await ask('GET')) {
    const line = bar(reindex);
    if (line !== shown) show(line);
    shown = line;
    await sleep(300);
  }
  if (reindex.state === 'failed') throw new Error(`The reindex failed: ${reindex.reason ?? ''}`);
  show(bar(reindex));
  console.log(process.stdout.isTTY ? '\nDone.' : 'Done.');
};

await main().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exitCode = 1;
});
