interface VerifiedRange {
  /** the last event that was verified */
  readonly checkedTo: number;
  /** the last event of the range */
  readonly to: number;
}

/** Whether all of the range was verified, and every event that services emitted is in the log: none was pruned unread, and none is a dead letter. */
export const isVerifiedWithoutMissingEvents = (
  { checkedTo, to }: VerifiedRange,
  prunedUnread: readonly unknown[],
  deadLetters: readonly unknown[],
): boolean => checkedTo >= to && prunedUnread.length === 0 && deadLetters.length === 0;
