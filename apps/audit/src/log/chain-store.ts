import { prepared, type ReadDatabase } from '@bunting/database';
import { type ChainFault, type FaultKind, chainFault } from './chained-event.ts';
import { requireEventNotDropped } from '../search/event-filters.ts';
import type { EventIdAndHash, ExternallyRecordedHash } from './externally-recorded-hash.ts';
import { chainColumns, eventHash, type HashedEvent, missingLogHeadError } from './append-store.ts';

export interface VerificationOptions {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** a hash that is compared with that of the event in the log, also outside of the range */
  readonly externalHash?: ExternallyRecordedHash | undefined;
  /** the deadline, at which verification stops and reports the last event that it has verified */
  readonly until?: Date | undefined;
  readonly progress?: ((checkedTo: number, to: number) => void) | undefined;
}

export interface VerificationReport {
  readonly from: number;
  readonly to: number;
  /** the number of events that were checked */
  readonly checked: number;
  /** the id of the last event that was checked; the id before the range if none was */
  readonly checkedTo: number;
  /** the hash of the event `checkedTo` */
  readonly hash: string;
  /** the last event of the log; stored outside the log, it proves a later truncation */
  readonly head: EventIdAndHash;
  readonly fault: ChainFault | null;
}

/** Where the log begins and ends. */
interface LogEnds {
  /** of the last event */
  readonly id: number;
  readonly hash: string;
  /** of the last event that was dropped for its age; 0 if none was */
  readonly droppedId: number;
  readonly droppedHash: string;
  /** the first event after the last one: it was not appended by this service; null if there is none */
  readonly beyond: number | null;
}

const selectEnds = prepared(`select id, encode(hash, 'hex') as hash,
         dropped_id as "droppedId", encode(dropped_hash, 'hex') as "droppedHash",
         (select min(event.id) from event where event.id > head.id) as beyond
       from event_log_head as head`);
const selectRange = prepared(`select ${chainColumns} from event where id between $1 and $2 order by id`);
const selectHash = prepared("select encode(hash, 'hex') as hash from event where id = $1");

const batchSize = 2_000;
const otherHash = '; it has another hash than the one that is known';

/** The event of the batch that was appended with the id of an altered event, if any: it has been moved to another id. */
function findMovedEvent(previousHash: string, altered: HashedEvent, batch: readonly HashedEvent[]) {
  return batch.find((event) => {
    if (event.id === altered.id) return false;
    const hash = eventHash(previousHash, { ...event, id: altered.id });
    return hash === event.hash || hash === altered.hash;
  });
}

/**
 * The fault of an event, if any.
 * @param previousHash the hash of the event before it
 * @param batch the events that were read together with it
 */
function eventFault(
  previousHash: string,
  event: HashedEvent,
  batch: readonly HashedEvent[],
  externalHash: ExternallyRecordedHash | undefined,
): ChainFault | undefined {
  const { id, hash } = event;
  if (eventHash(previousHash, event) !== hash) {
    const movedEvent = findMovedEvent(previousHash, event, batch);
    return movedEvent === undefined ? chainFault(id, 'altered') : chainFault(id, 'moved', `the id ${movedEvent.id}`);
  }
  return externalHash?.id === id && externalHash.hash !== hash ? chainFault(id, 'altered', otherHash) : undefined;
}

/**
 * The fault that an externally recorded hash shows outside of the range that is verified, if any.
 * @throws Refusal `ValidationError` if the log has dropped its event for its age: it cannot be compared
 */
async function externalHashFault(
  database: ReadDatabase,
  externalHash: ExternallyRecordedHash,
  log: LogEnds,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ChainFault | undefined> {
  const { id, hash } = externalHash;
  if (id > log.id) return chainFault(log.id + 1, 'missing', `, for ${id} is known`);
  requireEventNotDropped(externalHash, log.droppedId);
  if (id === log.droppedId) return hash === log.droppedHash ? undefined : chainFault(id, 'altered');
  if (id >= from && id <= to) return undefined;
  const [event] = await database.read<{ hash: string }>(selectHash, [id]);
  if (event === undefined) return chainFault(id, 'missing');
  return event.hash === hash ? undefined : chainFault(id, 'altered', otherHash);
}

/**
 * Verifies that the events of a range are those that were appended: recomputes each hash from the stored event and the hash
 * before it, and reports the first mismatch. Hashes are computed here: the database is only read.
 * @throws Refusal `ValidationError` if the log has dropped the event of `externalHash` for its age: it cannot be compared
 */
export async function verifyChain(
  database: ReadDatabase,
  options: VerificationOptions = {},
): Promise<VerificationReport> {
  const { externalHash, until, progress } = options;
  const readEnds = async (): Promise<LogEnds> => {
    const [found] = await database.read<LogEnds>(selectEnds);
    if (found === undefined) throw missingLogHeadError();
    return found;
  };
  const read = (first: number, last: number) => {
    const events = database.read<HashedEvent>(selectRange, [first, Math.min(last, first + batchSize - 1)]);
    // Prefetched: the result is not awaited when the verification ends earlier.
    events.catch(() => undefined);
    return events;
  };

  const log = await readEnds();
  const from = Math.max(options.from ?? 1, log.droppedId + 1);
  const to = Math.min(options.to ?? log.id, log.id);
  let nextId = from;
  let previousHash = log.droppedHash;
  const report = (fault: ChainFault | null): VerificationReport => ({
    from,
    to,
    checked: nextId - from,
    checkedTo: nextId - 1,
    hash: previousHash,
    head: { id: log.id, hash: log.hash },
    fault,
  });
  const faultReport = (id: number, kind: FaultKind, detail?: string) => report(chainFault(id, kind, detail));

  const faultByExternalHash = externalHash && (await externalHashFault(database, externalHash, log, { from, to }));
  if (faultByExternalHash !== undefined) return report(faultByExternalHash);
  if (from - 1 > log.droppedId && from <= to) {
    const [predecessor] = await database.read<{ hash: string }>(selectHash, [from - 1]);
    if (predecessor === undefined) return faultReport(from - 1, 'missing');
    previousHash = predecessor.hash;
  }

  let reading = read(nextId, to);
  while (nextId <= to) {
    if (until !== undefined && Date.now() >= until.getTime()) return report(null);
    const events = await reading;
    reading = read(nextId + batchSize, to);
    const end = Math.min(to, nextId + batchSize - 1);
    for (const event of [...events, undefined]) {
      if (event?.id !== nextId) {
        if (nextId > end) break;
        // Events that retention drops during the check are not missing.
        const { droppedId } = await readEnds();
        return droppedId < nextId ? faultReport(nextId, 'missing') : verifyChain(database, options);
      }
      const fault = eventFault(previousHash, event, events, externalHash);
      if (fault !== undefined) return report(fault);
      previousHash = event.hash;
      nextId++;
    }
    progress?.(nextId - 1, to);
  }

  if (to === log.id && from <= to && previousHash !== log.hash) return faultReport(to, 'head');
  if (to === log.id && log.beyond !== null) return faultReport(log.beyond, 'added');
  return report(null);
}
