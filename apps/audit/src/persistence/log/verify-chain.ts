import type { Database, Statement } from '@bunting/database';
import { type ChainFault, type FaultKind, faultAt } from '../../domain/hash-chain.ts';
import { chainColumns, sealOf, type SealedEvent } from './hash-chain.ts';

/** An event's id and hash, as somebody keeps them elsewhere to hold the log to them. */
export interface KnownHash {
  readonly id: number;
  readonly hash: string;
}

export interface CheckOptions {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly known?: KnownHash | undefined;
  /** when to stop and say how far it came */
  readonly until?: Date | undefined;
  readonly progress?: ((checkedTo: number, to: number) => void) | undefined;
}

export interface ChainReport {
  readonly from: number;
  readonly to: number;
  /** how many events were checked, and up to which id */
  readonly checked: number;
  readonly checkedTo: number;
  /** of the event `checkedTo` */
  readonly hash: string;
  /** the end of the log: keep it elsewhere, and nobody can shorten the log unnoticed */
  readonly head: KnownHash;
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
const stretch: Statement = {
  name: 'chain-stretch',
  text: `select ${chainColumns} from event where id between $1 and $2 order by id`,
};
const hashOf: Statement = { name: 'chain-hash', text: "select encode(hash, 'hex') as hash from event where id = $1" };

const stretchLength = 2_000;

/** Whether one of the events near by is the one that belongs to `id`. */
const strayAt = (id: number, before: string, found: SealedEvent, nearby: readonly SealedEvent[]) =>
  nearby.find((event) => {
    if (event.id === id) return false;
    const hash = sealOf(before, { ...event, id });
    return hash === event.hash || hash === found.hash;
  });

/**
 * Checks that the events of a range are those that were appended: hashes each anew from what is stored and from the hash
 * before it, and names the first one that is not what it was. It computes here, and trusts the database with nothing but reading.
 */
export const checkChain = async (database: Database, options: CheckOptions = {}): Promise<ChainReport> => {
  const { known, until, progress } = options;
  const readEnds = async (): Promise<Ends> => {
    const [found] = await database.read<Ends>(ends);
    if (found === undefined) throw new Error('The event log has no head.');
    return found;
  };
  const read = (first: number, last: number) => {
    const events = database.read<SealedEvent>(stretch, [first, Math.min(last, first + stretchLength - 1)]);
    // It is read ahead: when the check ends before its turn, nobody awaits it.
    events.catch(() => undefined);
    return events;
  };

  const log = await readEnds();
  const from = Math.max(options.from ?? 1, log.droppedId + 1);
  const to = Math.min(options.to ?? log.id, log.id);
  let expected = from;
  let before = log.droppedHash;
  const report = (fault: ChainFault | null): ChainReport => ({
    from,
    to,
    checked: expected - from,
    checkedTo: expected - 1,
    hash: before,
    head: { id: log.id, hash: log.hash },
    fault,
  });
  const wrong = (id: number, kind: FaultKind, detail?: string) => report(faultAt(id, kind, detail));

  if (known !== undefined && known.id > log.id) return wrong(log.id + 1, 'missing', `, for ${known.id} is known`);
  if (known?.id === log.droppedId && known.hash !== log.droppedHash) return wrong(known.id, 'altered');
  if (from - 1 > log.droppedId && from <= to) {
    const [predecessor] = await database.read<{ hash: string }>(hashOf, [from - 1]);
    if (predecessor === undefined) return wrong(from - 1, 'missing');
    before = predecessor.hash;
  }

  let reading = read(expected, to);
  while (expected <= to) {
    if (until !== undefined && Date.now() >= until.getTime()) return report(null);
    const events = await reading;
    reading = read(expected + stretchLength, to);
    const end = Math.min(to, expected + stretchLength - 1);
    for (const event of [...events, undefined]) {
      if (event?.id !== expected) {
        if (expected > end) break;
        // What is dropped for its age while it is read is not missing.
        const { droppedId } = await readEnds();
        return droppedId < expected ? wrong(expected, 'missing') : checkChain(database, options);
      }
      if (sealOf(before, event) !== event.hash) {
        const stray = strayAt(expected, before, event, events);
        return stray === undefined ? wrong(expected, 'altered') : wrong(expected, 'moved', `the id ${stray.id}`);
      }
      if (known?.id === expected && known.hash !== event.hash) {
        return wrong(expected, 'altered', '; it has another hash than the one that is known');
      }
      before = event.hash;
      expected++;
    }
    progress?.(expected - 1, to);
  }

  if (to === log.id && from <= to && before !== log.hash) return wrong(to, 'head');
  if (to === log.id && log.beyond !== null) return wrong(log.beyond, 'added');
  return report(null);
};
