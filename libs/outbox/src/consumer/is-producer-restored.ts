/** The last message that a consumer has applied. */
interface Position {
  readonly position: number;
  /** the uid of that message; null when the position is not that of a message */
  readonly uid: string | null;
}

/** The producer's last position, and the uid of its message at the consumer's position. */
interface ProducerPage {
  readonly head: number;
  readonly at?: string | null | undefined;
}

/**
 * Whether the producer was restored from a backup since the consumer read it: it ends before the position of the consumer, or has another
 * message there than the one that was applied.
 */
export const isProducerRestored = ({ position, uid }: Position, { head, at = null }: ProducerPage): boolean =>
  head < position || (at !== null && uid !== null && at !== uid);
