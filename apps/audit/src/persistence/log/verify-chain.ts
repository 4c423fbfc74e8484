import type { ReadDatabase, Statement } from '@bunting/database';
import { type ChainFault, type FaultKind, describeChainFault } from '../../domain/chained-event.ts';
import { requireCheckpointWithinLog } from '../../domain/require-within-log.ts';
import type { ChainCheckpoint, SentCheckpoint } from '../../domain/chain-checkpoint.ts';
import { chainColumns, eventHash, type HashedEvent } from './hash-chain.ts';
import { missingLogHeadError } from './missing-log-head-error.ts';

export interface VerificationOptions {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** an event that is compared with the log, also outside of the range */
  readonly checkpoint?: SentCheckpoint | undefined;
  /** the deadline, at which verification stops and reports the last event that it has verified */
  readonly until?: Date | undefined;
  readonly progress?: ((checkedTo: number, to: number) => void) | undefined;
}

export interface VerificationReport {
  readonly from: number;
  readonly to: number;
  /** how many events were checked, and up to which id */
  readonly checked: number;
  readonly checkedTo: number;
  /** of the event `checkedTo` */
  readonly hash: string;
  /** the last event of the log; stored outside the log, it proves a later truncation */
  readonly head: ChainCheckpoint;
  readonly fault: ChainFault | null;
}

interface Ends {
  readonly id: number;
  readonly hash: string;
  readonly droppedId: number;
  readonly droppedHash: string;
  readonly beyond: number | null;
}

const ends: Statement = {
  name: 'chain-ends',
  text: `select id, encode(hash, 'hex') as hash,
           dropped_id as "droppedId", encode(dropped_hash, 'hex') as "droppedHash",
           (select min(event.id) from event where event.id > head.id) as beyond
         from event_log_head as head`,
};
const eventsOfRange: Statement = {
  name: 'chain-range',
  text: `select ${chainColumns} from event where id between $1 and $2 order by id`,
};
const hashOf: Statement = { name: 'chain-hash', text: "select encode(hash, 'hex') as hash from event where id = $1" };

const batchSize = 2_000;
const otherHash = '; it has another hash than the one that is known';

/** The event of the batch that belongs in the place of the found one, if any: it has been moved. */
const findDisplaced = (before: string, found: HashedEvent, nearby: readonly HashedEvent[]) =>
  nearby.find((event) => {
    if (event.id === found.id) return false;
    const hash = eventHash(before, { ...event, id: found.id });
    return hash === event.hash || hash === found.hash;
  });

/**
 * The fault of an event, if any.
 * @param before the hash of the event before it
 * @param nearby the events of its batch
 */
const eventFault = (
  before: string,
  event: HashedEvent,
  nearby: readonly HashedEvent[],
  checkpoint: SentCheckpoint | undefined,
): ChainFault | undefined => {
  const { id, hash } = event;
  if (eventHash(before, event) !== hash) {
    const displaced = findDisplaced(before, event, nearby);
    return displaced === undefined
      ? describeChainFault(id, 'altered')
      : describeChainFault(id, 'moved', `the id ${displaced.id}`);
  }
  return checkpoint?.id === id && checkpoint.hash !== hash ? describeChainFault(id, 'altered', otherHash) : undefined;
};

/**
 * The fault of the known event where it is not in the range that is verified, if any.
 * @throws Refusal `ValidationError` if the log has dropped it for its age: it cannot be compared
 */
const checkpointFault = async (
  database: ReadDatabase,
  checkpoint: SentCheckpoint,
  log: Ends,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ChainFault | undefined> => {
  const { id, hash } = checkpoint;
  if (id > log.id) return describeChainFault(log.id + 1, 'missing', `, for ${id} is known`);
  requireCheckpointWithinLog(checkpoint, log.droppedId);
  if (id === log.droppedId) return hash === log.droppedHash ? undefined : describeChainFault(id, 'altered');
  if (id >= from && id <= to) return undefined;
  const [event] = await database.read<{ hash: string }>(hashOf, [id]);
  if (event === undefined) return describeChainFault(id, 'missing');
  return event.hash === hash ? undefined : describeChainFault(id, 'altered', otherHash);
};

/**
 * Verifies that the events of a range are those that were appended: recomputes each hash from the stored event and the hash
 * before it, and reports the first mismatch. Hashes are computed here: the database is only read.
 * @throws Refusal `ValidationError` if the log has dropped the `known` event for its age: it could not be compared
 */
export const verifyChain = async (
  database: ReadDatabase,
  options: VerificationOptions = {},
): Promise<VerificationReport> => {
  const { checkpoint, until, progress } = options;
  const readEnds = async (): Promise<Ends> => {
    const [found] = await database.read<Ends>(ends);
    if (found === undefined) throw missingLogHeadError();
    return found;
  };
  const read = (first: number, last: number) => {
    const events = database.read<HashedEvent>(eventsOfRange, [first, Math.min(last, first + batchSize - 1)]);
    // Prefetched: the result is not awaited when the verification ends earlier.
    events.catch(() => undefined);
    return events;
  };

  const log = await readEnds();
  const from = Math.max(options.from ?? 1, log.droppedId + 1);
  const to = Math.min(options.to ?? log.id, log.id);
  let expected = from;
  let before = log.droppedHash;
  const report = (fault: ChainFault | null): VerificationReport => ({
    from,
    to,
    checked: expected - from,
    checkedTo: expected - 1,
    hash: before,
    head: { id: log.id, hash: log.hash },
    fault,
  });
  const faultReport = (id: number, kind: FaultKind, detail?: string) => report(describeChainFault(id, kind, detail));

  const known = checkpoint && (await checkpointFault(database, checkpoint, log, { from, to }));
  if (known !== undefined) return report(known);
  if (from - 1 > log.droppedId && from <= to) {
    const [predecessor] = await database.read<{ hash: string }>(hashOf, [from - 1]);
    if (predecessor === undefined) return faultReport(from - 1, 'missing');
    before = predecessor.hash;
  }

  let reading = read(expected, to);
  while (expected <= to) {
    if (until !== undefined && Date.now() >= until.getTime()) return report(null);
    const events = await reading;
    reading = read(expected + batchSize, to);
    const end = Math.min(to, expected + batchSize - 1);
    for (const event of [...events, undefined]) {
      if (event?.id !== expected) {
        if (expected > end) break;
        // Events that retention drops during the check are not missing.
        const { droppedId } = await readEnds();
        return droppedId < expected ? faultReport(expected, 'missing') : verifyChain(database, options);
      }
      const fault = eventFault(before, event, events, checkpoint);
      if (fault !== undefined) return report(fault);
      before = event.hash;
      expected++;
    }
    progress?.(expected - 1, to);
  }

  if (to === log.id && from <= to && before !== log.hash) return faultReport(to, 'head');
  if (to === log.id && log.beyond !== null) return faultReport(log.beyond, 'added');
  return report(null);
};
