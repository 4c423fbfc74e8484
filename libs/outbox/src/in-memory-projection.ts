import type { OutboxMessage } from '@bunting/contracts';
import {
  type ConsumerOptions,
  inAppliedSpan,
  type OutboxPosition,
  type ProjectionStore,
  startPulling,
  succeedsWithin,
} from './projection.ts';

interface InMemoryProjectionOptions extends ConsumerOptions {
  /** Reads what the messages refer to, before they are applied. When it fails, the projection stays behind, and prepares them again. */
  readonly prepare?: (messages: readonly OutboxMessage[]) => Promise<void>;
  /**
   * Applies messages in their order, also messages that it has applied before. An in-memory projection has no dead letters: when it throws,
   * the projection stays behind, and applies the same messages again.
   * @param isComplete whether these are the last messages that the producer had committed when the pull started
   */
  readonly apply: (messages: readonly OutboxMessage[], upTo: number, isComplete: boolean) => void;
  /** Drops all state: the producer was restored from a backup, and its outbox is read from the beginning. */
  readonly reset: () => void;
}

/**
 * Consumes one topic of one producer into the memory of this process. The checkpoint is in memory as well: at its start the process reads
 * the topic from its beginning. A topic holds at least the newest row of each entity.
 */
export async function startInMemoryProjection(options: InMemoryProjectionOptions) {
  const { consumer, producer, topic, prepare, apply, reset } = options;
  const name = `The projection of ${topic} rows of ${producer} in the memory of ${consumer}`;
  let applied: OutboxPosition = { position: 0, uid: null };
  const store: ProjectionStore = {
    get applied() {
      return applied;
    },
    apply: async ({ messages, upTo, isComplete }) => {
      if (prepare !== undefined) await prepare(messages);
      inAppliedSpan(options, messages, () => apply(messages, upTo.position, isComplete));
      applied = upTo;
    },
    restart: (position) => {
      applied = { position, uid: null };
      reset();
    },
  };
  const pulling = await startPulling(name, options, store, { pageSize: 1_000, batchingMs: 50, maxBackoffMs: 1_000 });
  /** @returns by how many milliseconds the projection is behind when the pull ends, or does not end within the limit */
  const behindAfter = async (pulled: Promise<void>, limitMs: number): Promise<number> => {
    if (await succeedsWithin(pulled, limitMs)) return 0;
    // From now on callers do not wait, until a pull succeeds.
    pulling.state.isUnresponsive = true;
    return pulling.behindMs();
  };
  /** The next pull, and the one wait for it that all callers share. */
  let sharedWait: { readonly pulled: Promise<void>; readonly behind: Promise<number> } | undefined;

  return {
    /** Whether the projection has caught up with the producer at least once. */
    get isLoaded() {
      return pulling.state.isLoaded;
    },
    /** the checkpoint: all messages up to this position are applied */
    get applied() {
      return applied.position;
    },
    /**
     * Waits up to `limitMs` milliseconds until everything is applied that the producer had committed at the time of the call. Callers that
     * wait for the same pull share the limit of the first. Once everything was read, it does not wait while the producer is unavailable.
     * @returns by how many milliseconds the projection is behind; 0 if it is current.
     */
    catchUp: (limitMs: number): number | Promise<number> => {
      if (pulling.state.isUnresponsive && pulling.state.isLoaded) return pulling.behindMs();
      if (pulling.isKnownCurrent()) return 0;
      const pulled = pulling.pull();
      if (sharedWait?.pulled !== pulled) sharedWait = { pulled, behind: behindAfter(pulled, limitMs) };
      return sharedWait.behind;
    },
    stop: pulling.stop,
  };
}
export type InMemoryProjection = Awaited<ReturnType<typeof startInMemoryProjection>>;
