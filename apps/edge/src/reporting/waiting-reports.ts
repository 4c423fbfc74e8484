import type { BulkMetricsBody } from '@bunting/contracts';

export type Counts = BulkMetricsBody['metrics'][number];
export type Application = BulkMetricsBody['applications'][number];
/** Counts that are added to while they wait. */
interface CountsSoFar extends Counts {
  yes: number;
  no: number;
  sdkVersion?: string;
  readonly variants: Record<string, number>;
}
/** A report that waits. */
interface Waiting<T> {
  readonly entry: T;
  /** the reports that share a limit: those of an application, and for counts, of an hour */
  readonly group: string;
  /** the most bytes that it takes in a list in JSON, whatever its counts become */
  length: number;
}
/** By what is summed, what waits; and how much in each group. */
interface Pile<T> {
  readonly waiting: Map<string, Waiting<T>>;
  readonly perGroup: Map<string, number>;
}
/** What is reported with one token. */
interface TokenReports {
  readonly counts: Pile<CountsSoFar>;
  readonly applications: Pile<Application>;
}
export interface StoredBatch {
  readonly token: string;
  readonly metrics: readonly Counts[];
  readonly applications: readonly Application[];
}
export interface Batch extends StoredBatch {
  readonly bytes: number;
}

/** What a map and its keys take besides the text of an entry. */
const overheadBytes = 200;
/** The variants of a count, as an origin keeps them. */
const maxVariants = 200;
const maxNameLength = 255;
/** The digits of a count and its colon. */
const maxCountLength = 17;
/** The features of an application in an hour, and the instances of one in an environment: more are those of a client that makes names up. */
const maxPerGroup = 10_000;

interface Options {
  /** the most bytes of reports, about */
  readonly maxBytes: number;
  /** There are other reports than before, or more. */
  readonly onChange: () => void;
  /** Reports have no place: too many bytes, or too many or too long names. */
  readonly onDropped: (reason: 'full' | 'limit', reports: number) => void;
}

/** The reports that wait for the origin, in memory: counts are summed, and registrations are kept once. */
export class WaitingReports {
  readonly #options: Options;
  readonly #byToken = new Map<string, TokenReports>();
  #bytes = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    let size = 0;
    for (const { counts, applications } of this.#byToken.values())
      size += counts.waiting.size + applications.waiting.size;
    return size;
  }

  /** The tokens with which there is something to report, that which has waited longest first. */
  tokens(): string[] {
    return [...this.#byToken.keys()];
  }

  /** Lets all others have their turn before a token. */
  putLast(token: string): void {
    const reports = this.#byToken.get(token);
    this.#byToken.delete(token);
    if (reports !== undefined) this.#byToken.set(token, reports);
  }

  /** All that waits, as it is kept. */
  toStore(): StoredBatch[] {
    const batches = [...this.#byToken].map(([token, { counts, applications }]) => ({
      token,
      metrics: [...counts.waiting.values()].map(({ entry }) => entry),
      applications: [...applications.waiting.values()].map(({ entry }) => entry),
    }));
    return batches.filter(({ metrics, applications }) => metrics.length + applications.length > 0);
  }

  addCount(token: string, counts: Counts): void {
    const { appName, environment, timestamp, featureName } = counts;
    if (!isName(featureName)) return this.#options.onDropped('limit', 1);
    const { counts: pile } = this.#reportsOf(token);
    const group = JSON.stringify([appName, environment, timestamp]);
    const key = `${group}${featureName}`;
    const before = pile.waiting.get(key);
    // It may grow: it is taken out with the length that it has now, and goes to the end.
    if (before !== undefined) this.#take(pile, key, before);
    const one = before ?? emptyCounts(counts, group);
    const left = addCounts(one, counts);
    if (left > 0) this.#options.onDropped('limit', left);
    this.#put(pile, key, one);
  }

  /** Adds what is known of an instance of an application, in the place of what it has said of itself before. */
  addApplication(token: string, application: Application): void {
    const { appName, instanceId, environment } = application;
    const { applications: pile } = this.#reportsOf(token);
    const key = JSON.stringify([appName, instanceId, environment]);
    const entry = { ...pile.waiting.get(key)?.entry, ...application };
    this.#put(pile, key, { entry, group: JSON.stringify([appName, environment]), length: lengthOf(entry) });
  }

  addBatch({ token, metrics, applications }: StoredBatch): void {
    for (const counts of metrics) this.addCount(token, counts);
    for (const application of applications) this.addApplication(token, application);
  }

  /**
   * Takes what has waited longest with a token, as much as has so many bytes, and at least one report; undefined, and the token is gone, where
   * nothing waits.
   */
  takeBatch(token: string, maxLength: number): Batch | undefined {
    const reports = this.#byToken.get(token);
    let length = 0;
    const takeFrom = <T>(pile: Pile<T>): readonly T[] => {
      const taken: T[] = [];
      for (const [key, one] of pile.waiting) {
        if (length > 0 && length + one.length > maxLength) break;
        length += one.length;
        this.#take(pile, key, one);
        taken.push(one.entry);
      }
      return taken;
    };
    if (reports === undefined || reports.counts.waiting.size + reports.applications.waiting.size === 0) {
      this.#byToken.delete(token);
      return undefined;
    }
    return { token, applications: takeFrom(reports.applications), metrics: takeFrom(reports.counts), bytes: length };
  }

  #reportsOf(token: string): TokenReports {
    const known = this.#byToken.get(token);
    if (known !== undefined) return known;
    const reports: TokenReports = { counts: emptyPile(), applications: emptyPile() };
    this.#byToken.set(token, reports);
    return reports;
  }

  #take<T>({ waiting, perGroup }: Pile<T>, key: string, { group, length }: Waiting<T>): void {
    waiting.delete(key);
    this.#bytes -= length + overheadBytes;
    const left = (perGroup.get(group) ?? 0) - 1;
    if (left > 0) perGroup.set(group, left);
    else perGroup.delete(group);
  }

  #put<T>(pile: Pile<T>, key: string, one: Waiting<T>): void {
    const { maxBytes, onChange, onDropped } = this.#options;
    const { waiting, perGroup } = pile;
    const size = one.length + overheadBytes;
    const before = waiting.get(key);
    if (before !== undefined) this.#take(pile, key, before);
    if ((perGroup.get(one.group) ?? 0) >= maxPerGroup) return onDropped('limit', 1);
    this.#makeSpace(size);
    if (this.#bytes + size > maxBytes) return onDropped('full', 1);
    waiting.set(key, one);
    perGroup.set(one.group, (perGroup.get(one.group) ?? 0) + 1);
    this.#bytes += size;
    onChange();
  }

  /** Drops what has waited longest until there is space. */
  #makeSpace(needed: number): void {
    const { maxBytes, onDropped } = this.#options;
    const dropFrom = <T>(pile: Pile<T>): void => {
      for (const [key, one] of pile.waiting) {
        if (this.#bytes + needed <= maxBytes) return;
        this.#take(pile, key, one);
        onDropped('full', 1);
      }
    };
    for (const { counts, applications } of this.#byToken.values()) {
      dropFrom(counts);
      dropFrom(applications);
    }
  }
}

/** The bytes of an entry in a list in JSON. */
function lengthOf(entry: string | object): number {
  return Buffer.byteLength(JSON.stringify(entry)) + 1;
}

/** A sum that origins accept, whatever is reported. */
function sumOf(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

function isName(name: string): boolean {
  return name.length <= maxNameLength;
}

function emptyCounts({ featureName, appName, environment, timestamp }: Counts, group: string): Waiting<CountsSoFar> {
  // Without a prototype, so that a variant may have any name.
  const variants = Object.create(null) as Record<string, number>;
  const entry = { featureName, appName, environment, timestamp, yes: 0, no: 0, variants };
  const length = lengthOf({ ...entry, yes: Number.MAX_SAFE_INTEGER, no: Number.MAX_SAFE_INTEGER });
  return { entry, group, length };
}

/** The bytes of the SDK in an entry. */
function sdkLength(sdkVersion: string | undefined): number {
  return sdkVersion === undefined ? 0 : lengthOf({ sdkVersion });
}

/** Adds counts; the SDK is the one that has reported last. @returns how many of their variants have no place */
function addCounts(
  waiting: Waiting<CountsSoFar>,
  { yes = 0, no = 0, variants: added = {}, sdkVersion }: Counts,
): number {
  const { entry } = waiting;
  const { variants } = entry;
  if (sdkVersion !== undefined) {
    waiting.length += sdkLength(sdkVersion) - sdkLength(entry.sdkVersion);
    entry.sdkVersion = sdkVersion;
  }
  entry.yes = sumOf(entry.yes, yes);
  entry.no = sumOf(entry.no, no);
  let room = maxVariants - Object.keys(variants).length;
  let left = 0;
  for (const [name, count] of Object.entries(added)) {
    const before = variants[name];
    if (before === undefined && (room <= 0 || !isName(name))) {
      left++;
      continue;
    }
    if (before === undefined) {
      room--;
      waiting.length += lengthOf(name) + maxCountLength;
    }
    variants[name] = sumOf(before ?? 0, count);
  }
  return left;
}

function emptyPile<T>(): Pile<T> {
  return { waiting: new Map(), perGroup: new Map() };
}
