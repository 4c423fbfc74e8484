import { JetStreamApiError, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, RequestError } from '@nats-io/transport-node';

/** The oldest server that the tests run with. */
const oldestNats = '2.9.0';
/** The required `max_payload`, which is the server's default. Responses are sent in chunks, but a request and its headers are one message. */
const minPayloadBytes = 1024 * 1024;

const numbersOf = (version: string): number[] => version.split(/[.-]/, 3).map(Number);

const isOlder = (version: string, minVersion: string): boolean => {
  const [a, b] = [numbersOf(version), numbersOf(minVersion)];
  const index = b.findIndex((number, nth) => a[nth] !== number);
  return index >= 0 && (a[index] ?? 0) < (b[index] ?? 0);
};

const nameOf = (connection: NatsConnection): string => `The NATS server at ${connection.getServer()}`;

/** @throws Error when the server is too old, or carries messages that are too small */
export const requireSupportedServer = (connection: NatsConnection): void => {
  const { version = '0.0.0', max_payload: maxPayload = 0 } = connection.info ?? {};
  if (isOlder(version, oldestNats))
    throw new Error(`${nameOf(connection)} is version ${version}; Bunting needs ${oldestNats} or newer. Upgrade it.`);
  if (maxPayload < minPayloadBytes)
    throw new Error(
      `${nameOf(connection)} carries messages of at most ${maxPayload} bytes; Bunting needs ${minPayloadBytes}. Set max_payload: 16MB in its configuration.`,
    );
};

/** @throws Error when the server or the account of the user has no JetStream */
export const requireJetStream = async (connection: NatsConnection): Promise<JetStreamManager> => {
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
};

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
export const streamFault = (connection: NatsConnection, stream: string, error: unknown): Error | undefined => {
  if (!(error instanceof JetStreamApiError)) return undefined;
  const advice = adviceByErrorCode[error.code];
  if (advice === undefined) return undefined;
  return new Error(`${nameOf(connection)} cannot store the stream ${stream} of 256 MiB (${error.message}). ${advice}`, {
    cause: error,
  });
};
