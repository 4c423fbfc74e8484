import { JetStreamApiError, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
  RequestError,
} from '@nats-io/transport-node';
import { readFileSync } from 'node:fs';

/** How a process authenticates to NATS and verifies the server. Files are read again at each reconnect. */
export interface NatsAccess {
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  /** a file with a user's JWT and its nkey seed, as `nsc` writes it */
  readonly credentialsFile?: string | undefined;
  /** a file with an nkey seed */
  readonly nkeyFile?: string | undefined;
  /** a PEM file, as are the next two; each of the three requires TLS */
  readonly tlsCaFile?: string | undefined;
  readonly tlsCertificateFile?: string | undefined;
  readonly tlsKeyFile?: string | undefined;
}

function invalidUrl(): Error {
  return new Error(
    'BUS_URL is not valid: it takes nats://host:port or tls://host:port, comma-separated, with user:password@ or token@ ' +
      'before the host. Percent-encode characters that have a meaning in a URL.',
  );
}

interface ServerUrls {
  readonly servers: readonly string[];
  readonly requiresTls: boolean;
  readonly access: Pick<NatsAccess, 'user' | 'password' | 'token'>;
}

/** Separates the servers of a `BUS_URL` from the credentials in it: servers appear in messages, credentials must not. */
function parseBusUrl(list: string): ServerUrls {
  const urls = list.split(',').map((entry) => {
    const url = entry.trim();
    try {
      const parsed = new URL(url.includes('://') ? url : `nats://${url}`);
      if (!/^(nats|tls):$/.test(parsed.protocol) || parsed.hostname === '') throw invalidUrl();
      if (parsed.search !== '' || parsed.hash !== '' || !/^\/?$/.test(parsed.pathname)) throw invalidUrl();
      return {
        server: `${parsed.protocol}//${parsed.host}`,
        name: decodeURIComponent(parsed.username),
        password: decodeURIComponent(parsed.password),
      };
    } catch {
      // The parser's own message would show the URL, and with it the password.
      throw invalidUrl();
    }
  });
  const identities = new Set(
    urls.filter(({ name, password }) => name + password !== '').map(({ name, password }) => `${name}\0${password}`),
  );
  if (identities.size > 1)
    throw new Error('BUS_URL names servers with different credentials: one is used for all of them.');
  const [name = '', password = ''] = [...identities][0]?.split('\0') ?? [];
  return {
    servers: urls.map(({ server }) => server),
    requiresTls: urls.some(({ server }) => server.startsWith('tls:')),
    access: name === '' ? {} : password === '' ? { token: name } : { user: name, password },
  };
}

function readFile(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`The file that ${setting} names cannot be read (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    });
  }
}

function nkeySeed(file: string): Buffer {
  return Buffer.from(readFile('BUS_NKEY_FILE', file).toString().trim());
}

function tlsFiles({ tlsCaFile, tlsCertificateFile, tlsKeyFile }: NatsAccess) {
  const files = [
    ['BUS_TLS_CA_FILE', 'caFile', tlsCaFile],
    ['BUS_TLS_CERTIFICATE_FILE', 'certFile', tlsCertificateFile],
    ['BUS_TLS_KEY_FILE', 'keyFile', tlsKeyFile],
  ] as const;
  const configuredFiles = files.flatMap(([setting, option, file]) =>
    file === undefined ? [] : [{ setting, option, file }],
  );
  for (const { setting, file } of configuredFiles) readFile(setting, file);
  return Object.fromEntries(configuredFiles.map(({ option, file }) => [option, file]));
}

function authenticatorsOf({ credentialsFile, nkeyFile }: NatsAccess) {
  const authenticators = [];
  if (credentialsFile !== undefined) {
    readFile('BUS_CREDENTIALS_FILE', credentialsFile);
    authenticators.push(credsAuthenticator(() => readFile('BUS_CREDENTIALS_FILE', credentialsFile)));
  }
  if (nkeyFile !== undefined) {
    nkeySeed(nkeyFile);
    authenticators.push(nkeyAuthenticator(() => nkeySeed(nkeyFile)));
  }
  return authenticators;
}

function adviceFor(reason: string): string {
  return /authorization|authentication|permission/i.test(reason)
    ? 'Correct the credentials in BUS_URL or in the other BUS_ settings.'
    : 'Start one, or correct BUS_URL.';
}

/** The prefix of all inboxes of a service, so that a NATS user can be restricted to its own. */
export function inboxPrefixOf(name: string): string {
  return `_INBOX.${name.replaceAll(/[^\w-]/g, '-')}`;
}

/** The interval of pings. After two without a response the connection counts as lost, in 4 to 6 s: an unreachable server does not close it. */
const pingIntervalMs = 2_000;

/**
 * Connects to NATS, and reconnects until the connection is closed.
 * @throws Error that names the servers and never the credentials
 */
export async function connectToNats(
  list: string,
  { name, connectTimeoutMs, access = {} }: { name: string; connectTimeoutMs: number; access?: NatsAccess | undefined },
): Promise<NatsConnection> {
  const { servers, requiresTls, access: urlAccess } = parseBusUrl(list);
  const { user, password, token } = urlAccess.user === undefined && urlAccess.token === undefined ? access : urlAccess;
  const tls = tlsFiles(access);
  const authenticators = authenticatorsOf(access);
  try {
    return await connect({
      servers: [...servers],
      name,
      inboxPrefix: inboxPrefixOf(name),
      timeout: connectTimeoutMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: pingIntervalMs,
      ignoreAuthErrorAbort: true,
      ...(user === undefined ? {} : { user, pass: password ?? '' }),
      ...(token === undefined ? {} : { token }),
      ...(authenticators.length === 0 ? {} : { authenticator: authenticators }),
      ...(requiresTls || Object.keys(tls).length > 0 ? { tls } : {}),
    });
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`No NATS server answers at ${servers.join(',')} (${reason}). ${adviceFor(reason)}`, {
      cause: error,
    });
  }
}

/** The oldest server that the tests run with. */
const oldestNats = '2.9.0';
/** The required `max_payload`, which is the server's default. Responses are sent in chunks, but a request and its headers are one message. */
const minPayloadBytes = 1024 * 1024;

function numbersOf(version: string): number[] {
  return version.split(/[.-]/, 3).map(Number);
}

function isOlder(version: string, minVersion: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(minVersion)];
  const index = b.findIndex((number, nth) => a[nth] !== number);
  return index >= 0 && (a[index] ?? 0) < (b[index] ?? 0);
}

function nameOf(connection: NatsConnection): string {
  return `The NATS server at ${connection.getServer()}`;
}

/** @throws Error when the server is too old, or carries messages that are too small */
export function requireSupportedServer(connection: NatsConnection): void {
  const { version = '0.0.0', max_payload: maxPayload = 0 } = connection.info ?? {};
  if (isOlder(version, oldestNats))
    throw new Error(`${nameOf(connection)} is version ${version}; Bunting needs ${oldestNats} or newer. Upgrade it.`);
  if (maxPayload < minPayloadBytes)
    throw new Error(
      `${nameOf(connection)} carries messages of at most ${maxPayload} bytes; Bunting needs ${minPayloadBytes}. Set max_payload: 16MB in its configuration.`,
    );
}

/** @throws Error when the server or the account of the user has no JetStream */
export async function requireJetStream(connection: NatsConnection): Promise<JetStreamManager> {
  const manager = await jetstreamManager(connection, { timeout: 5_000, checkAPI: false });
  try {
    await manager.getAccountInfo();
  } catch (error) {
    const isMissing =
      (error instanceof RequestError && error.isNoResponders()) ||
      error instanceof JetStreamApiError ||
      /jetstream.*not enabled|no responders/i.test(String(error));
    // A server that is starting or electing a leader does not answer yet; a missing feature is then detected when events are published.
    if (isMissing)
      throw new Error(
        `${nameOf(connection)} has no JetStream for this user (${(error as Error).message}). Add jetstream { store_dir: … } to its configuration, and jetstream: enabled to the account.`,
        { cause: error },
      );
  }
  return manager;
}

/** How an operator provides a resource that JetStream lacks, by the server's error code. */
const adviceByErrorCode: Readonly<Record<number, string>> = {
  10002: 'Raise the limits of JetStream for the account.',
  10023: 'Raise max_file_store of the server.',
  10026: 'Raise the number of streams that the account may have.',
  10027: 'Raise the number of streams that the account may have.',
  10028: 'Raise max_memory_store of the server.',
  10047: 'Raise max_file_store of the server, or free some of it.',
};

/** The error for a stream that the limits of the server do not permit; undefined for any other failure. */
export function streamFault(connection: NatsConnection, stream: string, error: unknown): Error | undefined {
  if (!(error instanceof JetStreamApiError)) return undefined;
  const advice = adviceByErrorCode[error.code];
  if (advice === undefined) return undefined;
  return new Error(`${nameOf(connection)} cannot store the stream ${stream} of 256 MiB (${error.message}). ${advice}`, {
    cause: error,
  });
}
