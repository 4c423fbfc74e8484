import type { IndexFeed } from '../persistence/index-feed.ts';
import { type Level, levelOf } from './asked-index.ts';
import type { Circuit } from './circuit.ts';
import { Unanswered } from './unanswered.ts';

export interface WatchNeeds {
  readonly uid: string;
  readonly feed: Pick<IndexFeed, 'standing' | 'distrust'>;
  readonly circuit: Circuit;
  /** rung when somebody should look after the index */
  readonly ring: () => void;
}

/** Who judges how it went with the index, whatever it was asked for. */
export interface Watch {
  /**
   * Asks the index by a job, provided that it shows every change; draws the conclusions from how that went.
   * @throws Unanswered
   */
  judge<T>(job: (level: Level) => Promise<T>): Promise<T>;
  /** The same, even if the circuit is open: its success closes it. */
  probe<T>(job: (level: Level) => Promise<T>): Promise<T>;
  /** Looks at the index in other ways than by a search: how that goes says nothing of whether it can search. */
  examine<T>(job: (level: Level) => Promise<T>): Promise<T>;
}

const isSame = (one: Level, other: Level): boolean => JSON.stringify(one) === JSON.stringify(other);

export const startWatch = ({ uid, feed, circuit, ring }: WatchNeeds): Watch => {
  const level = async (): Promise<Level> => levelOf(await feed.standing(uid));

  /** What the index says is only wrong if nothing of ours has changed it, and nothing the table, since it was asked. */
  const conclude = async (before: Level, suspicion: Unanswered): Promise<Unanswered> => {
    const now = await level().catch(() => undefined);
    if (now === undefined || !isSame(before, now))
      return new Unanswered('behind', 'the index was changing while it was searched');
    await feed.distrust(uid, before.generation, suspicion.message);
    return suspicion;
  };

  const examine = async <T>(job: (level: Level) => Promise<T>): Promise<T> => {
    const before = await level();
    try {
      return await job(before);
    } catch (error) {
      if (error instanceof Unanswered && error.reason === 'altered') throw await conclude(before, error);
      throw error;
    }
  };

  const probe = <T>(job: (level: Level) => Promise<T>): Promise<T> =>
    examine(async (at) => {
      try {
        const answer = await job(at);
        circuit.succeeded();
        return answer;
      } catch (error) {
        if (error instanceof Unanswered && error.isFault) circuit.failed();
        throw error;
      }
    });

  return {
    judge: async (job) => {
      if (circuit.isOpen) throw new Unanswered('open', 'it failed too often lately');
      try {
        return await probe(job);
      } catch (error) {
        if (error instanceof Unanswered && (error.reason === 'behind' || error.reason === 'altered')) ring();
        throw error;
      }
    },
    probe,
    examine,
  };
};
