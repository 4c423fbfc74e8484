import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Runs a script of this folder in a separate process and process group. */
export const startScript = (
  script: string,
  args: readonly string[],
  { path = '', become = [] as readonly string[] } = {},
) => {
  const [command = '', ...rest] = [
    ...become,
    process.execPath,
    '--no-warnings',
    new URL(script, import.meta.url).pathname,
    ...args,
  ];
  const env = { ...process.env, PATH: `${path}${path && ':'}${process.env['PATH']}` };
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'], env, detached: true });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    said: async <T>(): Promise<T> => JSON.parse((await lines.next()).value ?? '{"refused":"(it said nothing)"}') as T,
  };
};
export type ScriptProcess = ReturnType<typeof startScript>;

/** Polls until a condition holds. */
export const until = async (
  description: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> => {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMs} ms: ${description}`);
    await sleep(10);
  }
};

/** Runs statements on a new connection and returns the rows of the last one. */
export const query = async (url: string, ...statements: readonly string[]): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows as unknown[];
    return rows;
  } finally {
    await client.end();
  }
};
