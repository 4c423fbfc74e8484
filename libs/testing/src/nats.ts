import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, closeSync, constants, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandEndingWithParent, programSearchPath } from '@bunting/embedded-postgres';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectToNats } from '@nats-io/transport-node';
import { eventually } from './assertions.ts';
import { reservePort, temporaryFolder } from './process-resources.ts';

/** The path to which the program is downloaded if it is missing, as by `npm test`. */
export const downloadedNatsServer = fileURLToPath(
  new URL('../../../node_modules/.cache/bunting/nats-server', import.meta.url),
);

export const howToInstallNatsServer =
  'Install it with `apt-get install nats-server` (Debian, Ubuntu) or `brew install nats-server` (macOS), take a release of ' +
  'https://github.com/nats-io/nats-server/releases, or set NATS_SERVER to where the program is.';

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of nats-server. Throws an error with installation instructions if it is missing. */
export function findNatsServer(): string {
  const configured = process.env['NATS_SERVER'];
  if (configured !== undefined && configured !== '') {
    if (isProgram(configured)) return configured;
    throw new Error(`NATS_SERVER names ${configured}, which is no program that can be run. ${howToInstallNatsServer}`);
  }
  const folders = programSearchPath().split(':');
  const program = [...folders.map((folder) => path.join(folder, 'nats-server')), downloadedNatsServer].find(isProgram);
  if (program === undefined) throw new Error(`The program nats-server is missing. ${howToInstallNatsServer}`);
  return program;
}

export interface NatsServerOptions {
  readonly jetstream?: boolean;
  /** the folder of JetStream; by default a temporary folder that is removed with the server */
  readonly storeDir?: string;
  /** by default a free port */
  readonly port?: number;
  /** additional lines of the configuration file */
  readonly config?: string;
  /** environment variables that the configuration file refers to as `$NAME` */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The key with which all processes of a spec sign the callers of their calls. */
const { privateKey } = generateKeyPairSync('ed25519', {
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

/** Resolves if the server with this name listens on the port; otherwise rejects. */
function requireGreeting(name: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1')
      .once('error', reject)
      .once('close', () => reject(new Error(`Port ${port} was closed without a greeting.`)))
      .once('data', (greeting) => {
        socket.destroy();
        if (greeting.toString('latin1').includes(`"server_name":"${name}"`)) resolve();
        else reject(new Error(`On port ${port} is another server.`));
      });
  });
}

/** Starts a real nats-server on the loopback interface. It ends with this process. */
export async function startNats({
  jetstream = true,
  storeDir,
  port: givenPort,
  config = '',
  environment = {},
}: NatsServerOptions = {}) {
  const program = findNatsServer();
  const folder = temporaryFolder(`bunting-test-nats-${process.pid}-${randomBytes(4).toString('hex')}`);
  const store = storeDir ?? path.join(folder.path, 'store');
  const [configFile, logFile] = [path.join(folder.path, 'nats.conf'), path.join(folder.path, 'nats.log')];
  let child: ChildProcess | undefined;
  const name = path.basename(folder.path);
  const port = givenPort ?? (await reservePort());

  const isRunning = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;

  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child === undefined || !isRunning()) return;
    child.ref();
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };

  const start = async (): Promise<void> => {
    mkdirSync(store, { recursive: true });
    const lines = [
      'host: 127.0.0.1',
      `port: ${port}`,
      `server_name: ${name}`,
      'max_payload: 16MB',
      ...(jetstream ? [`jetstream { store_dir: ${JSON.stringify(store)} }`] : []),
      config,
    ];
    writeFileSync(configFile, lines.join('\n'));
    const { command, args, stdin } = commandEndingWithParent([program, '-c', configFile], { signal: 'TERM' });
    const log = openSync(logFile, 'a');
    const startedChild = spawn(command, args, {
      stdio: [stdin, 'ignore', log],
      env: { ...process.env, ...environment },
      detached: true,
    });
    closeSync(log);
    child = startedChild;
    startedChild.once('exit', () => startedChild.stdin?.end('\n'));
    startedChild.unref();
    (startedChild.stdin as Socket | null)?.unref();
    try {
      await once(startedChild, 'spawn');
      await eventually(async () => {
        if (!isRunning()) return;
        await requireGreeting(name, port);
      });
      if (!isRunning()) throw new Error('It ended.');
    } catch (error) {
      await end('SIGKILL');
      const lastLogLines = readFileSync(logFile, 'utf8').trim().split('\n').slice(-10).join('\n');
      throw new Error(`nats-server (${program}) did not start: ${String(error)}\n${lastLogLines}`, { cause: error });
    }
  };

  const stop = async (): Promise<void> => {
    await end('SIGTERM');
    await folder.remove();
  };

  try {
    await start();
  } catch (error) {
    await folder.remove();
    throw error;
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    /** the settings of a process on this server, which signs callers as a gateway does */
    settings: { BUS_URL: `nats://127.0.0.1:${port}`, BUS_CALLER_KEY: privateKey },
    /** the keys of a bus that a spec opens on this server */
    callerKeys: { privateKey },
    port,
    get pid() {
      return child?.pid ?? 0;
    },
    storeDir: store,
    /** Stops the server gracefully, and removes its folder if it is a temporary one. */
    stop,
    /** Kills the server immediately (SIGKILL). */
    kill: (): Promise<void> => end('SIGKILL'),
    /** Restarts the server on the same port and folder. */
    restart: async (): Promise<void> => {
      await end('SIGTERM');
      await start();
    },
  };
}
export type TestNats = Awaited<ReturnType<typeof startNats>>;

/** The messages in a stream of a NATS server, in their order. */
export async function readNatsStreamMessages(
  url: string,
  stream: string,
): Promise<{ subject: string; id: string; payload: string }[]> {
  const connection = await connectToNats({ servers: url });
  try {
    const { streams } = await jetstreamManager(connection);
    const { state } = await streams.info(stream);
    const messages: { subject: string; id: string; payload: string }[] = [];
    for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
      const message = await streams.getMessage(stream, { seq });
      if (message === null) continue;
      messages.push({ subject: message.subject, id: message.header.get('Nats-Msg-Id'), payload: message.string() });
    }
    return messages;
  } finally {
    await connection.close();
  }
}
