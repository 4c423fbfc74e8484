import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { OriginError } from './origin-error.ts';

export interface ReadStreamOptions {
  /** ends the request of the pieces */
  readonly controller: AbortController;
  /** Takes each event; meanwhile the stream is not read on. @throws OriginError to end the stream */
  readonly onEvent: (event: EventSourceMessage) => Promise<void>;
  /** the most characters of an event */
  readonly maxBytes: number;
  readonly now: () => number;
}

/** Reads the server-sent events in the pieces of a stream until it ends. */
export function readStream(
  pieces: AsyncIterable<Uint8Array>,
  { controller, onEvent, maxBytes, now }: ReadStreamOptions,
) {
  const connected = Promise.withResolvers<boolean>();
  const openedAt = now();
  let lastPieceAt = openedAt;
  let isTaking = false;
  const parsed: EventSourceMessage[] = [];
  let reason: OriginError | undefined;
  const end = (error: OriginError | undefined): void => {
    reason ??= error;
    controller.abort();
  };
  const parser = createParser({
    maxBufferSize: maxBytes,
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded')
        end(new OriginError('unusable', `an event of its stream is longer than ${maxBytes} characters`));
    },
    onEvent: (event) => void parsed.push(event),
  });
  const take = async (event: EventSourceMessage): Promise<void> => {
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
  const read = async (): Promise<OriginError | undefined> => {
    const decoder = new TextDecoder();
    try {
      for await (const piece of pieces) {
        if (controller.signal.aborted) break;
        lastPieceAt = now();
        parser.feed(decoder.decode(piece, { stream: true }));
        for (const event of parsed.splice(0)) if (!controller.signal.aborted) await take(event);
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
