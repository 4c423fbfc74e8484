import type { OutboxTopic } from '@bunting/contracts';

/** The checkpoint of a consumer in a topic. */
interface Acknowledgement {
  readonly topic: OutboxTopic;
  readonly consumer: string;
  readonly position: number;
}

const keyOf = ({ topic, consumer }: Acknowledgement): string => `${topic} ${consumer}`;

/** The checkpoints that consumers report in their reads, in memory until housekeeping stores them. */
export const unstoredAcknowledgements = () => {
  const latest = new Map<string, Acknowledgement>();
  const stored = new Map<string, number>();
  return {
    add: (acknowledgement: Acknowledgement): void => {
      const key = keyOf(acknowledgement);
      if ((latest.get(key)?.position ?? -1) < acknowledgement.position) latest.set(key, acknowledgement);
    },
    /** The checkpoints that are not stored yet. */
    pending: (): readonly Acknowledgement[] =>
      [...latest.values()].filter((acknowledgement) => stored.get(keyOf(acknowledgement)) !== acknowledgement.position),
    markStored: (acknowledged: readonly Acknowledgement[]): void => {
      for (const acknowledgement of acknowledged) {
        stored.set(keyOf(acknowledgement), acknowledgement.position);
        // Consumers report lower positions after a backup of the producer was restored.
        if (latest.get(keyOf(acknowledgement))?.position === acknowledgement.position)
          latest.delete(keyOf(acknowledgement));
      }
    },
  };
};
export type Acknowledgements = ReturnType<typeof unstoredAcknowledgements>;
