import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { downloadedNatsServer, findNatsServer, howToInstallNatsServer } from '../../libs/testing/src/nats.ts';
import { runCommand } from '../command.ts';

const help = `Finds or installs nats-server, and prints its path.

  npx node scripts/testing/install-nats-server.ts

It uses the program that NATS_SERVER names, or the one on PATH. Otherwise it installs the distribution's package (as root, with
apt-get) or downloads a release and verifies its checksum; the download is stored in node_modules/.cache/bunting.`;

/** The release that is downloaded if no package can be installed. */
const version = '2.12.7';
const sha256: Readonly<Record<string, string>> = {
  'linux-amd64': '570d2d627db111e679cc1e6bc57ba78f373ed1769acd8dc9c21c8f62d15b3c52',
  'linux-arm64': '3b9a79986778285c0e5acaba0b1218b72f6159db68fe5b8916a7d846240f9f22',
};
const installTimeoutMs = 180_000;
const downloadTimeoutMs = 120_000;

const log = (line: string): void => console.error(`nats-server: ${line}`);

const run = async (command: string, args: readonly string[]): Promise<void> => {
  // Standard output is reserved for the path.
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
  log("missing; installing the distribution's package");
  const apt = ['-o', 'DPkg::Lock::Timeout=60', '-o', 'Acquire::http::Timeout=20'];
  await run('apt-get', [...apt, 'update']);
  await run('apt-get', [...apt, 'install', '-y', '--no-install-recommends', 'nats-server']);
};

/** Extracts one program of a compressed archive, if the archive has the expected checksum. */
export const extractVerified = async (
  archive: Uint8Array,
  checksum: string,
  member: string,
  target: string,
): Promise<void> => {
  const actual = createHash('sha256').update(archive).digest('hex');
  if (actual !== checksum) throw new Error(`the archive has the checksum ${actual} instead of ${checksum}`);
  mkdirSync(path.dirname(target), { recursive: true });
  const temporaryFolder = mkdtempSync(`${target}-`);
  try {
    const file = path.join(temporaryFolder, 'archive.tar.gz');
    writeFileSync(file, archive);
    await run('tar', ['-xzf', file, '-C', temporaryFolder, member]);
    chmodSync(path.join(temporaryFolder, member), 0o755);
    renameSync(path.join(temporaryFolder, member), target);
  } finally {
    rmSync(temporaryFolder, { recursive: true, force: true });
  }
};

const download = async (): Promise<void> => {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const checksum = sha256[platform];
  if (checksum === undefined) throw new Error(`no release for ${platform} is known here`);
  const name = `nats-server-v${version}-${platform}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${version}/${name}.tar.gz`;
  log(`missing; downloading ${url}`);
  const response = await fetch(url, { signal: AbortSignal.timeout(downloadTimeoutMs) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  await extractVerified(
    new Uint8Array(await response.arrayBuffer()),
    checksum,
    `${name}/nats-server`,
    downloadedNatsServer,
  );
};

const findInstalled = (): string | undefined => {
  try {
    return findNatsServer();
  } catch (error) {
    // A program that NATS_SERVER names is not replaced by another one.
    if (process.env['NATS_SERVER']) throw error;
    return undefined;
  }
};

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
};

/** Path of the nats-server program, which is installed or downloaded if it is missing. */
export const ensureNatsServerInstalled = async (): Promise<string> => {
  const reasons: string[] = [];
  for (const install of [installPackage, download]) {
    const program = findInstalled();
    if (program !== undefined) return program;
    await install().catch((error: unknown) => reasons.push(reasonOf(error)));
  }
  const program = findInstalled();
  if (program !== undefined) return program;
  throw new Error(
    `The program nats-server is missing, and could not be got: ${reasons.join('; ')}. ${howToInstallNatsServer}`,
  );
};

if (import.meta.main) await runCommand({ help }, async () => console.log(await ensureNatsServerInstalled()));
