import type { OutboxMessage } from '@bunting/contracts';

/** A position in the producer's outbox. */
export interface OutboxPosition {
  readonly position: number;
  /** the uid of the message at the position; null when there is no message, or it was pruned */
  readonly uid: string | null;
}

/** The producer's last position, and the uid of its message at the consumer's position. */
interface ProducerPage {
  readonly head: number;
  readonly at?: string | null | undefined;
}

/** The position up to which a page is complete: messages missing before it were pruned. A page may end before the head. */
export const completeUpTo = (head: number, messages: readonly OutboxMessage[]): OutboxPosition => {
  const last = messages.at(-1);
  return last === undefined ? { position: head, uid: null } : { position: last.position, uid: last.uid };
};

/**
 * Whether the producer was restored from a backup since the consumer read its outbox: the outbox ends before the position of the consumer,
 * or has another message at this position than the one that was applied.
 */
export const isProducerRestored = ({ position, uid }: OutboxPosition, { head, at = null }: ProducerPage): boolean =>
  head < position || (at !== null && uid !== null && at !== uid);
