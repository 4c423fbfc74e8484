import { consumersOf, unavailable } from '@bunting/contracts';
import {
  DiscardPolicy,
  jetstream,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import type { IntegrationEvent } from '../bus.ts';
import { requireJetStream, streamFault } from './nats-connection.ts';
import { eventHeaders } from './nats-messages.ts';

/** The maximum size of the stream of a producer, beyond which JetStream drops its oldest events. */
const streamBytes = 256 * 1024 * 1024;
/** The name of the stream of a producer. */
export function streamOf(producer: string): string {
  return `bunting-${producer}`;
}
/** The subjects of the events of a producer. */
export function eventSubjectsOf(producer: string): string {
  return `event.${producer}.>`;
}

/** The error of the server for a stream that exists with other limits than requested. */
const existsWithAnotherConfiguration = 10_058;

/** What JetStream stores for the account of the user. */
export interface NatsStorage {
  /** the number of streams of the account, including those of other applications */
  readonly streams: number;
  readonly storedBytes: number;
  /** the storage limit of the account; undefined where only the server has one */
  readonly maxBytes?: number;
  /** the storage of the streams of all producers at their limits */
  readonly neededBytes: number;
}

/** The streams of JetStream that hold the events of each producer for integrators (docs/events.md). */
export function eventStreams(connection: NatsConnection, warn: (message: string) => void) {
  const js = jetstream(connection, { timeout: 5_000 });
  let manager: JetStreamManager | undefined;
  const ensureStream = async (producer: string): Promise<void> => {
    manager ??= await jetstreamManager(connection, { timeout: 5_000 });
    const stream = {
      name: streamOf(producer),
      subjects: [eventSubjectsOf(producer)],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      max_bytes: streamBytes,
      max_age: nanos(24 * 60 * 60 * 1000),
      duplicate_window: nanos(2 * 60 * 1000),
    };
    await manager.streams.add(stream).catch((error: unknown) => {
      // An operator has changed its limits.
      if (!(error instanceof JetStreamApiError) || error.code !== existsWithAnotherConfiguration) throw error;
    });
  };

  return {
    /** Publishes events. One with more bytes than a message may have is left out with a warning. @throws Refusal while NATS stores none */
    publish: async (all: readonly IntegrationEvent[], maxPayloadBytes: number): Promise<void> => {
      const events = all.filter(({ subject, id, payload }) => {
        const bytes = Buffer.byteLength(payload);
        if (bytes > maxPayloadBytes)
          warn(
            `NATS: the event ${id} (${subject}) has ${bytes} bytes and exceeds max_payload. It is not in the stream of events; raise max_payload of the NATS server.`,
          );
        return bytes <= maxPayloadBytes;
      });
      const send = async () =>
        Promise.all(
          events.map(({ subject, id, payload, traceparent }) =>
            js.publish(subject, payload, { msgID: id, headers: eventHeaders(traceparent), timeout: 5_000 }),
          ),
        );
      // The stream may be lost with the server's storage: create it again, and try once more.
      const sendToNewStream = async () => {
        await Promise.all([...new Set(events.map(({ subject }) => subject.split('.')[1] as string))].map(ensureStream));
        return send();
      };
      await send()
        .catch(sendToNewStream)
        .catch((error: unknown) => {
          throw unavailable(`NATS did not store the events: ${(error as Error).message}.`);
        });
    },

    storage: async (): Promise<NatsStorage> => {
      manager ??= await requireJetStream(connection);
      const account = await manager.getAccountInfo();
      // An account may have limits by number of replicas instead (`tiers`): the streams of Bunting have one replica.
      const { max_storage: maxBytes } = (account.tiers?.R1 ?? account).limits;
      return {
        streams: account.streams,
        storedBytes: account.storage,
        ...(maxBytes < 0 ? {} : { maxBytes }),
        neededBytes: Object.keys(consumersOf).length * streamBytes,
      };
    },

    /** Creates the missing streams. @throws Error when JetStream is missing, or its limits are too small */
    ensure: async (producers: readonly string[]): Promise<void> => {
      manager ??= await requireJetStream(connection);
      for (const producer of producers) {
        await ensureStream(producer).catch((error: unknown) => {
          const fault = streamFault(connection, streamOf(producer), error);
          if (fault !== undefined) throw fault;
          warn(
            `NATS: the stream ${streamOf(producer)} is not there yet (${(error as Error).message}); the relay creates it.`,
          );
        });
      }
    },
  };
}
