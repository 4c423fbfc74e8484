import { commandEndingWithParent } from '@bunting/embedded-postgres';
import { eventually, reservePort } from '@bunting/testing';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** A server that a command drives, fills and measures. */
export interface ServerUnderTest {
  readonly url: string;
  /** an admin token */
  readonly token: string;
  /** seconds of CPU that the process has used so far; undefined if it is not on this machine */
  cpuSeconds(): number | undefined;
  /**
   * the same of its child processes, which are those of its PostgreSQL, and, since it was first seen, of a
   * PostgreSQL of this machine to which it has TCP connections
   */
  postgresCpuSeconds(): number | undefined;
  /** resident memory of the process in MB */
  residentMb(): number | undefined;
}

const repository = path.join(import.meta.dirname, '..');
const startTimeoutMs = 120_000;
const maxLogLines = 5_000;
/** The unit of CPU times in `/proc` is a hundredth of a second (USER_HZ), whatever the frequency of the kernel's timer. */
const ticksPerSecond = 100;

/** Starts a new Bunting in a process of its own, which ends with this one. Nothing limits the requests of one address. */
export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  { dataDir = mkdtempSync(path.join(os.tmpdir(), 'bunting-server-')), keepData = false } = {},
) {
  const [port, monitoringPort] = [await reservePort(), await reservePort()];
  const token = `*:*.${randomBytes(32).toString('hex')}`;
  const { scripts } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  // Without npm the process is the server itself. It is detached, so that Ctrl-C reaches only the command, which then stops it.
  const start = [process.execPath, ...scripts.start.replace(/^.*?\bnode /, '').split(' ')];
  // With the cache of compiled code that `npm start` has: without it the process loads the compiler of TypeScript, and keeps it.
  const compileCache = /NODE_COMPILE_CACHE:-([^}]+)\}/.exec(scripts.start)?.[1];
  const { command, args, stdin } = commandEndingWithParent(start, { signal: 'TERM' });
  const child = spawn(command, args, {
    detached: true,
    cwd: repository,
    env: {
      NODE_COMPILE_CACHE: compileCache,
      ...process.env,
      PORT: String(port),
      GATEWAY_HOST: '127.0.0.1',
      FEATURES_OPS_PORT: String(monitoringPort),
      BUNTING_DATA_DIR: dataDir,
      BUNTING_ADMIN_TOKEN: token,
      CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true',
      CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'true',
      GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '0',
      GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE: '0',
      LOG_LEVEL: 'warn',
      ...settings,
    },
    stdio: [stdin, 'pipe', 'inherit'],
  });
  const logLines: string[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    logLines.push(line);
    if (logLines.length > maxLogLines) logLines.shift();
  });
  let hasExited = false;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(
    () => void (hasExited = true),
  );
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    child.stdin?.end('\n');
    if (!keepData) rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const hasStarted = await eventually(
    async () => {
      if (hasExited) return false;
      const { status } = await fetch(`${url}/health/ready`);
      if (status !== 200) throw new Error(`/health/ready returns ${status}.`);
      return true;
    },
    { timeoutMs: startTimeoutMs },
  ).catch(() => false);
  if (!hasStarted) {
    await stop();
    throw new Error(`Bunting did not start.\n${logLines.join('\n')}`);
  }
  return {
    ...serverAt(url, token),
    readyMs: performance.now() - startedAt,
    /** the last lines of its log, warnings and errors only */
    logLines: logLines as readonly string[],
    metrics: async (): Promise<string> => (await fetch(`http://127.0.0.1:${monitoringPort}/metrics`)).text(),
    stop,
  };
}

/** A server that runs already. CPU and memory are known if it runs on this machine, under this user or root's eyes. */
export function serverAt(address: string, token: string): ServerUnderTest {
  const url = address.replace(/\/$/, '');
  const pid = pidListeningOn(Number(new URL(url).port));
  /** What each PostgreSQL had used when it was first seen. It still counts while a pool that is idle has no connection to it. */
  const postgresBaselines = new Map<number, number>();
  const postgresCpuSecondsOf = (server: number): number => {
    for (const one of [server, ...postgresOf(server)])
      if (!postgresBaselines.has(one)) postgresBaselines.set(one, cpuSecondsOfChildren(one));
    return [...postgresBaselines].reduce((sum, [one, baseline]) => sum + cpuSecondsOfChildren(one) - baseline, 0);
  };
  return {
    url,
    token,
    cpuSeconds: () => (pid === undefined ? undefined : cpuSecondsOf(pid)),
    postgresCpuSeconds: () => (pid === undefined ? undefined : postgresCpuSecondsOf(pid)),
    residentMb: () => {
      const kilobytes = pid === undefined ? undefined : /VmRSS:\s+(\d+) kB/.exec(textOf(`/proc/${pid}/status`))?.[1];
      return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
    },
  };
}

/** CPU time of a process; 0 once it has ended. */
export function cpuSecondsOf(pid: number): number {
  const { user, system } = statOf(pid);
  return (user + system) / ticksPerSecond;
}

/** CPU time of all descendants of a process, including those that have ended. */
function cpuSecondsOfChildren(pid: number): number {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)));
  const ticksBelow = (parent: number): number =>
    all
      .filter((one) => one.parent === parent)
      .reduce((sum, { id, user, system, ended }) => sum + user + system + ended + ticksBelow(id), 0);
  return (ticksBelow(pid) + statOf(pid).ended) / ticksPerSecond;
}

/** The fields of `/proc/<pid>/stat`, in ticks: `ended` is the time of children that were waited for. */
function statOf(id: number) {
  // The second field, the command, is in parentheses and may hold spaces.
  const fields = (textOf(`/proc/${id}/stat`).split(') ')[1] ?? '').split(' ').map((field) => Number(field) || 0);
  const [parent = 0, user = 0, system = 0] = [fields[1], fields[11], fields[12]];
  return { id, parent, user, system, ended: (fields[13] ?? 0) + (fields[14] ?? 0) };
}

/** The sockets of TCP in a state: their ports, and how a process holds them. */
function socketsIn(state: 'established' | 'listening') {
  const code = { established: '01', listening: '0A' }[state];
  const portOf = (address = ''): number => Number.parseInt(address.split(':')[1] ?? '', 16);
  return ['tcp', 'tcp6']
    .flatMap((table) => textOf(`/proc/net/${table}`).split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === code)
    .map((fields) => ({ port: portOf(fields[1]), remotePort: portOf(fields[2]), link: `socket:[${fields[9]}]` }));
}

/** The PostgreSQL servers of this machine to which a process has TCP connections, without one that it has started. */
function postgresOf(pid: number): readonly number[] {
  const held = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)));
  const ports = socketsIn('established')
    .filter(({ link }) => held.has(link))
    .map(({ remotePort }) => remotePort);
  const isBelow = (id: number): boolean => id === pid || (id > 1 && isBelow(statOf(id).parent));
  return [...new Set([...new Set(ports)].map(pidListeningOn))].filter(
    (id) => id !== undefined && textOf(`/proc/${id}/comm`).trim() === 'postgres' && !isBelow(id),
  ) as number[];
}

/** The process that listens on a port of this machine; undefined if there is none that this user may look at. */
function pidListeningOn(port: number): number | undefined {
  const inodes = socketsIn('listening')
    .filter((socket) => socket.port === port)
    .map(({ link }) => link);
  if (inodes.length === 0) return undefined;
  const holds = (pid: string): boolean => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => inodes.includes(linkOf(`/proc/${pid}/fd/${fd}`)));
    } catch {
      return false;
    }
  };
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && holds(name));
  return pid === undefined ? undefined : Number(pid);
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
