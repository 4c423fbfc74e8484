import type { JsonReader } from './json-reader.ts';
import { OriginError } from './origin-error.ts';
import { type StreamEvent, streamEvents } from './stream-events.ts';

export interface ReadStreamOptions {
  /** ends the request of the pieces */
  readonly controller: AbortController;
  /** Takes each event; meanwhile the stream is not read on. @throws OriginError to end the stream */
  readonly onEvent: (event: StreamEvent) => Promise<void>;
  readonly readJson: () => JsonReader;
  /** the most characters of an event */
  readonly maxBytes: number;
  readonly now: () => number;
}

/** Reads the server-sent events in the pieces of a stream until it ends. */
export function readStream(
  pieces: AsyncIterable<Uint8Array>,
  { controller, onEvent, readJson, maxBytes, now }: ReadStreamOptions,
) {
  const connected = Promise.withResolvers<boolean>();
  const openedAt = now();
  let lastPieceAt = openedAt;
  let isTaking = false;
  const parsed: StreamEvent[] = [];
  let reason: OriginError | undefined;
  const end = (error: OriginError | undefined): void => {
    reason ??= error;
    controller.abort();
  };
  const feed = streamEvents({
    readJson,
    onEvent: (event) => void parsed.push(event),
    maxLength: maxBytes,
    onTooLong: () => end(new OriginError('unusable', `an event of its stream is longer than ${maxBytes} characters`)),
  });
  const take = async (event: StreamEvent): Promise<void> => {
    isTaking = true;
    try {
      await onEvent(event);
      connected.resolve(true);
    } catch (error) {
      if (!(error instanceof OriginError)) throw error;
      end(error);
    } finally {
      isTaking = false;
      lastPieceAt = now();
    }
  };
  /** In a function of its own: the loop below would hold the last event, which may have all features, until the next one arrives. */
  const takeNext = async (): Promise<void> => {
    const event = parsed.shift();
    if (event !== undefined && !controller.signal.aborted) await take(event);
  };
  const read = async (): Promise<OriginError | undefined> => {
    const decoder = new TextDecoder();
    try {
      for await (const piece of pieces) {
        if (controller.signal.aborted) break;
        lastPieceAt = now();
        feed(decoder.decode(piece, { stream: true }));
        while (parsed.length > 0) await takeNext();
      }
    } catch (error) {
      if (!controller.signal.aborted) reason ??= error instanceof OriginError ? error : undefined;
      if (!(error instanceof OriginError) && !controller.signal.aborted) throw error;
    }
    return reason;
  };
  const ended = read().finally(() => connected.resolve(false));
  return {
    openedAt,
    lastPieceAt: (): number => lastPieceAt,
    /** whether an event has arrived and is not taken yet */
    isTaking: (): boolean => isTaking,
    /** whether the stream sent an event that was taken; false once it has ended without one */
    isConnected: connected.promise,
    /** why it ended; undefined if its origin ended it */
    ended,
    end,
  };
}
export type ReadStream = ReturnType<typeof readStream>;
