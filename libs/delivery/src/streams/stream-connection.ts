import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DeliveryScope, Refusal } from '@bunting/contracts';
import type { Principal, UnreadResponses } from '@bunting/http';
import type { Delivery } from '../delivery.ts';
import type { DeliveryView } from '../view/delivery-view.ts';
import type { StreamMetrics } from './delivery-streams.ts';

/** The events of a stream, and the conditions under which it stays open. */
export interface StreamOptions {
  readonly kind: 'sdk' | 'ofrep';
  readonly scope: DeliveryScope;
  /** the event that the stream begins with; the client has everything up to its id */
  readonly first: ServerSentEvent;
  /** written after the first event, as it is */
  readonly preamble?: string;
  /** The event for a client that has everything up to a revision; undefined where there is nothing newer. */
  readonly changesAfter: (view: DeliveryView, revision: number) => ServerSentEvent | undefined;
  readonly credential: StreamCredential;
  /** Whether the stream may continue after the rights of its credential have changed. */
  readonly mayContinue: (principal: Principal) => boolean;
}

/** The token of a stream, which is reauthenticated while the stream is open. */
interface StreamCredential {
  /** streams with one key share their checks */
  readonly key: string;
  /** @throws Refusal `AuthenticationRequired` once the token is not valid any more */
  readonly authenticate: () => Principal | Promise<Principal>;
}

/** Who or what has ended a stream: the label of its metric. */
type Ending = 'client' | 'token' | 'environment' | 'lifetime' | 'drain' | 'unread';

/** The streams of one scope, for which changes are computed once. */
export interface Channel {
  readonly key: string;
  readonly scope: DeliveryScope;
  readonly connections: Set<StreamConnection>;
}

/** The state of one stream: its connection and its revision. While the client does not read, changes are not computed until it resumes. */
export interface StreamConnection {
  readonly raw: ServerResponse;
  readonly options: StreamOptions;
  readonly channel: Channel;
  readonly clientKey: string;
  /** the second of the keep-alive interval in which its comment is sent */
  readonly slot: number;
  /** milliseconds of `performance.now()` */
  readonly endsAt: number;
  /** the position up to which everything was sent to the client, or is being sent */
  revision: number;
  /** the epoch of the store in which the revision counts */
  epoch: number;
  /** whether the client has not read what was written last */
  isBlocked: boolean;
  ending: Ending | undefined;
}

export function isWritable({ raw, ending, isBlocked }: StreamConnection): boolean {
  return !isBlocked && ending === undefined && !raw.destroyed && !raw.writableEnded;
}

export function endStream(connection: StreamConnection, reason: Ending): void {
  if (connection.ending !== undefined) return;
  connection.ending = reason;
  connection.raw.end();
}

interface StreamUpdatesOptions {
  readonly delivery: Pick<Delivery, 'store' | 'isLoaded' | 'viewOf' | 'catchUp' | 'onChange'>;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly writer: Pick<StreamWriter, 'writeEvent'>;
  readonly metrics: Pick<StreamMetrics, 'lag'>;
}

/** The number of streams that are written to before other requests are handled. */
const streamsPerTurn = 500;
/** A revision before every revision of a store: the changes after it are the full state. */
const beforeAnyRevision = -1;

/**
 * Brings each stream from its own revision to the newest one: all streams at each change of the delivery, and a single one on request.
 * Changes that a slow client missed are merged, and nothing is queued for it.
 */
export function streamUpdates({ delivery, channels, writer, metrics }: StreamUpdatesOptions) {
  const { store } = delivery;
  /** streams whose revision is later than that of the store: this gateway lags, or the database was restored from a backup */
  const aheadConnections = new Set<StreamConnection>();
  let changedAt = 0;

  /** @returns whether there was anything to send */
  const sendChanges = (connection: StreamConnection, view: DeliveryView, after: number): boolean => {
    const event = connection.options.changesAfter(view, after);
    // Changes outside the scope count as sent, so that the revision of an idle stream stays within the retained history.
    Object.assign(connection, { revision: store.position, epoch: store.epoch });
    if (event !== undefined) writer.writeEvent(connection, event);
    return event !== undefined;
  };

  /** @param channelView the view of the channel of the stream, where the caller has it */
  const bringUpToDate = (connection: StreamConnection, channelView?: DeliveryView): void => {
    if (!delivery.isLoaded || !isWritable(connection)) return;
    const isSameHistory = connection.epoch === store.epoch;
    if (isSameHistory && connection.revision > store.position) return void aheadConnections.add(connection);
    const view = channelView ?? delivery.viewOf(connection.channel.scope);
    if (!sendChanges(connection, view, isSameHistory ? connection.revision : beforeAnyRevision)) return;
    metrics.lag.observe({ kind: connection.options.kind }, (performance.now() - changedAt) / 1_000);
  };

  const bringChannelsUpToDate = async (): Promise<void> => {
    let written = 0;
    for (const { scope, connections } of channels.values()) {
      if (!store.hasEnvironment(scope.environment)) {
        for (const connection of connections) endStream(connection, 'environment');
        continue;
      }
      const view = delivery.viewOf(scope);
      for (const connection of connections) {
        bringUpToDate(connection, view);
        if (++written % streamsPerTurn === 0) await nextTurn();
      }
    }
  };
  let update: Promise<void> | undefined;
  /** whether the store has changed since the running update began */
  let hasChanged = false;
  delivery.onChange(() => {
    changedAt = performance.now();
    hasChanged = true;
    update ??= (async () => {
      while (hasChanged) {
        hasChanged = false;
        await bringChannelsUpToDate();
      }
    })().finally(() => void (update = undefined));
  });

  return {
    bringUpToDate,
    /** Brings the streams whose revision is later than that of the store up to date, once the store has applied all committed rows. */
    bringAheadUpToDate: async (): Promise<void> => {
      if (aheadConnections.size === 0) return;
      const waiting = [...aheadConnections];
      if ((await delivery.catchUp()) > 0 || !delivery.isLoaded) return;
      for (const connection of waiting) {
        aheadConnections.delete(connection);
        // A revision that is still later is from before a backup was restored.
        if (isWritable(connection))
          sendChanges(connection, delivery.viewOf(connection.channel.scope), connection.revision);
      }
    },
    /** To be called when a stream has closed. */
    remove: (connection: StreamConnection): void => void aheadConnections.delete(connection),
  };
}

interface StreamToken {
  readonly credential: StreamCredential;
  readonly connections: Set<StreamConnection>;
  /** the caller at the last check, as JSON */
  caller: string | undefined;
}

/** Reauthenticates the tokens of open streams. One check of a token serves all of its streams. */
export function streamReauthentication() {
  const tokens = new Map<string, StreamToken>();

  const check = async (token: StreamToken): Promise<void> => {
    try {
      const principal = await token.credential.authenticate();
      const caller = JSON.stringify(principal.caller);
      if (caller === token.caller) return;
      token.caller = caller;
      for (const connection of token.connections)
        if (!connection.options.mayContinue(principal)) endStream(connection, 'token');
    } catch (error) {
      // While tokens cannot be looked up, streams stay open.
      if (!(error instanceof Refusal) || error.kind !== 'AuthenticationRequired') return;
      for (const connection of token.connections) endStream(connection, 'token');
    }
  };
  let checking: Promise<unknown> | undefined;

  return {
    add: (connection: StreamConnection): void => {
      const { credential } = connection.options;
      const token = tokens.get(credential.key) ?? { credential, connections: new Set(), caller: undefined };
      tokens.set(credential.key, token);
      token.connections.add(connection);
      // Rights that have changed since the stream was authorised are found by the next check.
      token.caller = undefined;
    },
    remove: (connection: StreamConnection): void => {
      const { key } = connection.options.credential;
      const token = tokens.get(key);
      token?.connections.delete(connection);
      if (token?.connections.size === 0) tokens.delete(key);
    },
    /** Reauthenticates every token, and ends the streams of those that are not valid any more or have lost the right to them. */
    check: (): void => {
      checking ??= Promise.all([...tokens.values()].map(check)).finally(() => void (checking = undefined));
    },
  };
}

/** A server-sent event (WHATWG HTML, 9.2). */
export interface ServerSentEvent {
  /** `message` when left out */
  readonly event?: string;
  /** what the client sends as `Last-Event-ID` when it reconnects; the revision up to which it has everything */
  readonly id: number;
  /** without line breaks */
  readonly data: string | Buffer;
}

/** A comment, which clients ignore. It shows proxies and clients that the stream is alive. */
const keepAliveComment = ': keep-alive\n\n';

function headOf({ event, id }: ServerSentEvent): string {
  return `${event === undefined ? '' : `event: ${event}\n`}id: ${id}\ndata: `;
}

/** Events with data up to this length are written as one buffer, made once for all streams of the data: each write costs a system call. */
const maxJoinedLength = 64 * 1024;
const joinedEvents = new WeakMap<Buffer, { readonly head: string; readonly bytes: Buffer }>();
function joinToBuffer(event: ServerSentEvent, suffix: string): Buffer | string {
  const { data } = event;
  const head = headOf(event);
  if (typeof data === 'string') return `${head}${data}\n\n${suffix}`;
  const cached = joinedEvents.get(data);
  if (cached?.head === head && suffix === '') return cached.bytes;
  const bytes = Buffer.concat([Buffer.from(head), data, Buffer.from(`\n\n${suffix}`)]);
  if (suffix === '') joinedEvents.set(data, { head, bytes });
  return bytes;
}

/** Writes an event to a response, and then `suffix` as it is. */
function writeEvent(raw: ServerResponse, event: ServerSentEvent, suffix: string): void {
  const { data } = event;
  if (data.length <= maxJoinedLength) return void raw.write(joinToBuffer(event, suffix));
  raw.cork();
  raw.write(headOf(event));
  raw.write(data);
  raw.write(`\n\n${suffix}`);
  raw.uncork();
}

/** Minimum bytes that are counted for a stream whose client does not read. */
const minUnreadBytes = 16 * 1024;

/**
 * Writes to streams with backpressure: a connection whose client does not read is blocked, and what it holds in memory counts as unread,
 * which may end it.
 * @param onRead called when the client of a blocked connection has read everything
 */
export function streamWriter(unread: Pick<UnreadResponses, 'add'>, onRead: (connection: StreamConnection) => void) {
  const blockUntilRead = (connection: StreamConnection, bytes: number, shared?: Buffer): void => {
    const { raw, clientKey } = connection;
    connection.isBlocked = true;
    const stopCounting = unread.add(raw, clientKey, Math.max(bytes, minUnreadBytes), {
      shared,
      onEnd: () => void (connection.ending ??= 'unread'),
    });
    raw.once('drain', () => {
      stopCounting();
      connection.isBlocked = false;
      onRead(connection);
    });
  };

  return {
    /** Writes an event, and then `suffix` as it is. */
    writeEvent: (connection: StreamConnection, event: ServerSentEvent, suffix = ''): void => {
      const { data } = event;
      writeEvent(connection.raw, event, suffix);
      if (connection.raw.writableNeedDrain)
        blockUntilRead(connection, data.length, typeof data === 'string' ? undefined : data);
    },
    writeKeepAlive: (connection: StreamConnection): void => {
      connection.raw.write(keepAliveComment);
      if (connection.raw.writableNeedDrain) blockUntilRead(connection, keepAliveComment.length);
    },
  };
}
type StreamWriter = ReturnType<typeof streamWriter>;
