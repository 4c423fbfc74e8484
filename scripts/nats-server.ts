import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { downloadedNatsServer, findNatsServer, howToInstallNatsServer } from '../libs/testing/src/nats-program.ts';

const help = `Makes sure that there is a nats-server, and prints where.

  node scripts/nats-server.ts

One that is installed is taken: the one that NATS_SERVER names, else of PATH. Otherwise root gets the distribution's
package where there is apt-get, and others get a release of a known checksum, kept in node_modules/.cache/bunting.`;

/** What is downloaded where nothing can be installed. */
const version = '2.12.7';
const sha256: Readonly<Record<string, string>> = {
  'linux-amd64': '570d2d627db111e679cc1e6bc57ba78f373ed1769acd8dc9c21c8f62d15b3c52',
  'linux-arm64': '3b9a79986778285c0e5acaba0b1218b72f6159db68fe5b8916a7d846240f9f22',
};
const installTimeoutMs = 180_000;
const downloadTimeoutMs = 120_000;

const say = (line: string): void => console.error(`nats-server: ${line}`);

const run = async (command: string, args: readonly string[]): Promise<void> => {
  // What it says goes to where people look; standard output is for the answer.
  const child = spawn(command, args, {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: installTimeoutMs,
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`\`${[command, ...args].join(' ')}\` ended with ${code ?? signal}`);
};

const installPackage = async (): Promise<void> => {
  if (process.getuid?.() !== 0) throw new Error('only root may install packages');
  say("it is missing: installing the distribution's package");
  const apt = ['-o', 'DPkg::Lock::Timeout=60', '-o', 'Acquire::http::Timeout=20'];
  await run('apt-get', [...apt, 'update']);
  await run('apt-get', [...apt, 'install', '-y', '--no-install-recommends', 'nats-server']);
};

/** Puts the one program of a compressed archive to where it is wanted, if the archive is the one that is known. */
export const unpackKnown = async (
  archive: Uint8Array,
  checksum: string,
  member: string,
  target: string,
): Promise<void> => {
  const actual = createHash('sha256').update(archive).digest('hex');
  if (actual !== checksum) throw new Error(`the archive has the checksum ${actual} instead of ${checksum}`);
  mkdirSync(path.dirname(target), { recursive: true });
  const workshop = mkdtempSync(`${target}-`);
  try {
    const file = path.join(workshop, 'archive.tar.gz');
    writeFileSync(file, archive);
    await run('tar', ['-xzf', file, '-C', workshop, member]);
    chmodSync(path.join(workshop, member), 0o755);
    renameSync(path.join(workshop, member), target);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
};

const download = async (): Promise<void> => {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const checksum = sha256[platform];
  if (checksum === undefined) throw new Error(`no release for ${platform} is known here`);
  const name = `nats-server-v${version}-${platform}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${version}/${name}.tar.gz`;
  say(`it is missing: downloading ${url}`);
  const response = await fetch(url, { signal: AbortSignal.timeout(downloadTimeoutMs) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  await unpackKnown(
    new Uint8Array(await response.arrayBuffer()),
    checksum,
    `${name}/nats-server`,
    downloadedNatsServer,
  );
};

const found = (): string | undefined => {
  try {
    return findNatsServer();
  } catch (error) {
    // What somebody has named is not replaced by something else.
    if (process.env['NATS_SERVER']) throw error;
    return undefined;
  }
};

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
};

/** Where the nats-server program is, which is installed or downloaded first if need be. */
export const ensureNatsServer = async (): Promise<string> => {
  const reasons: string[] = [];
  for (const get of [installPackage, download]) {
    const program = found();
    if (program !== undefined) return program;
    await get().catch((error: unknown) => reasons.push(reasonOf(error)));
  }
  const program = found();
  if (program !== undefined) return program;
  throw new Error(
    `The program nats-server is missing, and could not be got: ${reasons.join('; ')}. ${howToInstallNatsServer}`,
  );
};

if (import.meta.main) {
  if (process.argv.includes('--help')) console.log(help);
  else {
    try {
      console.log(await ensureNatsServer());
    } catch (error) {
      say(reasonOf(error));
      process.exitCode = 1;
    }
  }
}
