import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserServer, chromium, type LaunchOptions } from 'playwright-core';

const packaged = createRequire(import.meta.url).resolve('@sparticuz/chromium');
const { version } = JSON.parse(readFileSync(path.join(path.dirname(packaged), '..', 'package.json'), 'utf8')) as {
  version: string;
};
const cache = path.join(os.tmpdir(), `bunting-chromium-${version}-${process.getuid?.() ?? 0}`);

/** Unpacks the Chromium from npm once per machine: 200 MB below the folder for temporary files. */
async function unpack(): Promise<string> {
  const made = statSync(cache, { throwIfNoEntry: false });
  if (made !== undefined && made.uid !== process.getuid?.()) {
    throw new Error(`${cache} belongs to another user: remove it, or set TMPDIR.`);
  }
  if (made === undefined) {
    const partial = `${cache}.${process.pid}`;
    mkdirSync(partial, { mode: 0o700 });
    // The package unpacks into the folder for temporary files; the variable lets it add the libraries of Amazon Linux.
    const script = `import(${JSON.stringify(packaged)}).then(({ default: chromium }) => chromium.executablePath())`;
    const env = { ...process.env, TMPDIR: partial, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
    await promisify(execFile)(process.execPath, ['--eval', script], { env });
    try {
      renameSync(partial, cache);
    } catch (error) {
      // Another run has been faster.
      rmSync(partial, { recursive: true, force: true });
      if (!existsSync(cache)) throw error;
    }
  }
  return path.join(cache, 'chromium');
}

/** A Chromium that starts on this machine: its program, and the folder of its libraries where the system lacks them. */
export interface Chromium {
  readonly executablePath: string;
  readonly libraries?: string | undefined;
}

function optionsFor({ executablePath, libraries }: Chromium, ...args: string[]): LaunchOptions {
  return {
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--font-render-hinting=none', ...args],
    ...(libraries === undefined ? {} : { env: { ...process.env, LD_LIBRARY_PATH: libraries } }),
  };
}

/**
 * Launches a Chromium for tests in this process: without the connection that `startChromium` needs, each message of a page takes half as much.
 * All pages of a context run in one process, so that what one of them has compiled serves the next. A page of a test lives for seconds: what
 * its scripts gain by being optimized is less than what that takes.
 */
export function launchForTests(found: Chromium): Promise<Browser> {
  return chromium.launch(optionsFor(found, '--process-per-site', '--js-flags=--no-opt,--no-maglev'));
}

function librariesOf(folder: string): string | undefined {
  const name = readdirSync(folder).find((one) => one.startsWith('al20'));
  return name === undefined ? undefined : path.join(folder, name, 'lib');
}

/**
 * Finds a Chromium that starts: the one that CHROMIUM_PATH names, else the one from npm, with its own libraries where the system lacks them,
 * else Debian's. @throws Error with what was tried
 */
export async function findChromium(): Promise<Chromium> {
  const faults: string[] = [];
  const candidates: (() => Promise<Chromium>)[] =
    process.env['CHROMIUM_PATH'] === undefined
      ? [
          async () => ({ executablePath: await unpack() }),
          async () => ({ executablePath: await unpack(), libraries: librariesOf(cache) }),
          async () => ({ executablePath: '/usr/bin/chromium' }),
        ]
      : [async () => ({ executablePath: process.env['CHROMIUM_PATH'] as string })];
  for (const candidate of candidates) {
    try {
      const found = await candidate();
      const browser = await chromium.launch(optionsFor(found));
      await browser.close();
      return found;
    } catch (error) {
      faults.push((error as Error).message.split('\n').slice(0, 3).join(' '));
    }
  }
  throw new Error(`No Chromium starts. Set CHROMIUM_PATH to one, or install Debian's chromium.\n${faults.join('\n')}`);
}

/** Starts the Chromium that `findChromium` finds, for clients in any process. @throws Error with what was tried */
export async function startChromium(): Promise<BrowserServer> {
  return chromium.launchServer({ ...optionsFor(await findChromium(), '--js-flags=--no-opt'), host: '127.0.0.1' });
}
