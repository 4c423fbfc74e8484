import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { OriginError } from './origin-error.ts';

export interface ReadStreamOptions {
  /** ends the request of the pieces */
  readonly controller: AbortController;
  /** Takes each event. @throws OriginError to end the stream */
  readonly onEvent: (event: EventSourceMessage) => void;
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
    onEvent: (event) => {
      if (controller.signal.aborted) return;
      try {
        onEvent(event);
        connected.resolve(true);
      } catch (error) {
        if (!(error instanceof OriginError)) throw error;
        end(error);
      }
    },
  });
  const read = async (): Promise<OriginError | undefined> => {
    const decoder = new TextDecoder();
    try {
      for await (const piece of pieces) {
        if (controller.signal.aborted) break;
        lastPieceAt = now();
        parser.feed(decoder.decode(piece, { stream: true }));
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
    /** whether the stream sent an event that was taken; false once it has ended without one */
    isConnected: connected.promise,
    /** why it ended; undefined if its origin ended it */
    ended,
    end,
  };
}
export type ReadStream = ReturnType<typeof readStream>;
