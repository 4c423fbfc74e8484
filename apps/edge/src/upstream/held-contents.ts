import type { Log } from '@bunting/runtime';
import type { OriginState } from '../origin-state.ts';
import { OriginFeature } from '../origin-feature.ts';
import type { ListClaim } from '../segment-lists/edge-lists.ts';
import { type Contents, isSameContent, readEvents, readFeature, readFullAnswer } from './contents.ts';
import { featureJson } from './feature-json.ts';
import { OriginError } from './origin-error.ts';
import type { restorationWatch } from './restored-origin.ts';
import type { UpstreamMetrics } from './upstream-metrics.ts';

/** What a token is for. */
export type Scope = Pick<OriginState, 'environment' | 'projects'>;

export interface HeldContentsOptions {
  readonly token: string;
  /** what a snapshot has of the token */
  readonly held?: OriginState | undefined;
  /** the least `historyFrom` of the states: clients with earlier revisions have what the token was for before */
  readonly historyFrom?: number;
  /** the lists of segments, which are there before a state that needs them is handed over */
  readonly lists: ListClaim;
  readonly fetchBlocks: Parameters<ListClaim['load']>[1];
  readonly watch: ReturnType<typeof restorationWatch>;
  /** Takes each state that the origin had; none is older than the one before, unless its `historyFrom` is higher. */
  readonly onState: (state: OriginState) => void;
  /** The origin has answered with something usable, which may be older than what is held. */
  readonly onAnswered: (isConfirmed: boolean) => void;
  /** Learns what the token is for, and tells `setScope`. */
  readonly validate: () => Promise<void>;
  /** how many milliseconds old the data of the origin was at its last answer, by its own account */
  readonly staleMs: () => number;
  readonly isClosed: () => boolean;
  readonly log: Log;
  readonly metrics: UpstreamMetrics;
}

type Held = Contents<OriginFeature>;

/** What an origin delivered to a token. Answers are adopted one after the other, each as a change of what those before have left. */
export class HeldContents {
  readonly #options: HeldContentsOptions;
  #held: Held | undefined;
  #historyFrom: number;
  #scope: Scope | undefined;
  #isOtherScope = false;
  /** Whether only everything shows what the origin has, as changes may be those of another history or scope. */
  #needsEverything = true;
  #timesGivenUp = 0;
  #isLoadingLists = false;
  /** the lists that were too large when the state was handed over */
  #servedClosed = '';
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: HeldContentsOptions) {
    const { held: snapshot, historyFrom = 0 } = options;
    this.#options = options;
    this.#scope = snapshot;
    this.#historyFrom = Math.max(snapshot?.historyFrom ?? 0, historyFrom);
    if (snapshot !== undefined)
      this.#held = {
        revision: snapshot.revision,
        entityTag: snapshot.entityTag,
        features: new Map(snapshot.features.map((feature) => [feature.name, feature])),
        segments: new Map(snapshot.segments.map((segment) => [segment.id, segment])),
      };
  }

  get revision(): number | undefined {
    return this.#held?.revision;
  }

  /** The tag of the full answer that is held; null where only everything will do, or after changes. */
  get entityTag(): string | null {
    return this.#needsEverything ? null : (this.#held?.entityTag ?? null);
  }

  get isLoadingLists(): boolean {
    return this.#isLoadingLists;
  }

  get scope(): Scope | undefined {
    return this.#scope;
  }

  get needsEverything(): boolean {
    return this.#needsEverything || this.#held === undefined;
  }

  /** Asks for everything next, as after an interruption. */
  doubt(): void {
    this.#needsEverything = true;
  }

  /** Drops what is held, also what is being adopted. */
  giveUp(): void {
    this.#timesGivenUp++;
    this.#held = undefined;
  }

  setScope({ environment, projects }: Scope): void {
    const before = this.#scope;
    const isChanged =
      before !== undefined && (before.environment !== environment || before.projects.join(' ') !== projects.join(' '));
    if (isChanged && this.#held !== undefined) this.#isOtherScope = this.#needsEverything = true;
    this.#scope = { environment, projects };
  }

  /** How an answer is read: features that have not changed are the objects that are held, so that their texts stay in memory once. */
  readonly readJson = (): ReturnType<typeof featureJson> => featureJson((json) => this.#feature(JSON.parse(json)));

  readonly #feature = (value: unknown): OriginFeature => {
    if (value instanceof OriginFeature) return value;
    const feature = new OriginFeature(readFeature(value));
    const before = this.#held?.features.get(feature.name);
    return before?.isSame(feature) === true ? before : feature;
  };

  /** The origin has nothing newer. */
  confirm(): void {
    this.#options.watch.seen();
    this.#options.metrics.answers.inc({ outcome: 'unchanged' });
    this.#options.onAnswered(true);
  }

  /** Adopts a full answer. */
  adoptAnswer(body: unknown, entityTag: string | null): Promise<void> {
    return this.#inTurn(() => this.#adopt(readFullAnswer(body, { entityTag, held: this.#held }, this.#feature)));
  }

  /**
   * Adopts events of a stream or a delta.
   * @param isEverything whether everything was asked for
   * @throws OriginError `unusable` if the events are none that this edge can apply
   */
  adoptEvents(body: unknown, isEverything: boolean): Promise<void> {
    return this.#inTurn(async () => {
      const next = readEvents(body, isEverything ? undefined : this.#held, this.#feature);
      if (next === undefined) {
        this.#needsEverything = true;
        throw new OriginError('unusable', 'its changes are of a kind that this edge does not know');
      }
      if (next === this.#held) return this.confirm();
      await this.#adopt(next);
    });
  }

  #inTurn<T>(job: () => T | Promise<T>): Promise<T> {
    const result = this.#turn.then(job);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Takes contents that are as new as those that are held, or those of a restored origin. */
  async #adopt(next: Held): Promise<void> {
    const { watch, metrics, onAnswered, validate, log } = this.#options;
    const isOlder = this.#held !== undefined && next.revision < this.#held.revision;
    if (isOlder && !this.#isOtherScope && !watch.seenOlder()) {
      metrics.answers.inc({ outcome: 'older' });
      this.#needsEverything = true;
      return onAnswered(false);
    }
    // Another revision may be that of another environment or other projects: it is served as what the token is for now.
    if (isOlder && !this.#isOtherScope) await validate();
    if (isOlder && !this.#isOtherScope)
      log.warn(
        `The origin has revision ${next.revision} now, and had ${this.revision ?? 0}: as after a restored backup. The edge follows it.`,
      );
    watch.seen();
    await this.#take(next);
  }

  /** @throws OriginError where the state cannot be served: then it is not held either, and is asked for again */
  async #take(next: Held): Promise<void> {
    const { lists, isClosed } = this.#options;
    const givenUpBefore = this.#timesGivenUp;
    const segments = await this.#loadLists(next);
    const closed = lists.closed();
    if (this.#timesGivenUp !== givenUpBefore || isClosed()) return;
    const previous = this.#held;
    let historyFrom = this.#historyFrom;
    if (previous !== undefined) {
      const isSame =
        next.revision === previous.revision &&
        (next === previous || isSameHeld(next, previous)) &&
        closed === this.#servedClosed;
      if (isSame && !this.#isOtherScope && next.entityTag === previous.entityTag) return this.#hold(next);
      if (this.#isOtherScope || next.revision < previous.revision || (next.revision === previous.revision && !isSame))
        historyFrom = Math.max(historyFrom, previous.revision) + 1;
    }
    if (this.#scope !== undefined) this.#handOver(next, this.#scope, { segments, historyFrom });
    this.#historyFrom = historyFrom;
    this.#isOtherScope = false;
    this.#servedClosed = closed;
    this.#hold(next);
    // What was served before has left the memory: a list that had no place beside it may have one.
    if (lists.mayFit()) await this.#take(next);
  }

  /** @returns the segments as they are to be served @throws OriginError where a list is not there */
  async #loadLists({ segments }: Held): Promise<OriginState['segments']> {
    const { lists, fetchBlocks } = this.#options;
    this.#isLoadingLists = !lists.has(segments.values());
    try {
      return await lists.load([...segments.values()], fetchBlocks);
    } finally {
      this.#isLoadingLists = false;
    }
  }

  #handOver(
    { revision, entityTag, features }: Held,
    { environment, projects }: Scope,
    { segments, historyFrom }: Pick<OriginState, 'segments' | 'historyFrom'>,
  ): void {
    const { token, onState, staleMs, metrics } = this.#options;
    metrics.answers.inc({ outcome: 'state' });
    try {
      onState({
        token,
        environment,
        projects,
        revision,
        historyFrom,
        entityTag,
        features: [...features.values()],
        segments,
        fetchedAt: new Date(Date.now() - staleMs()),
      });
    } catch (error) {
      throw new OriginError('unusable', `its state cannot be applied: ${(error as Error).message}`);
    }
  }

  #hold(next: Held): void {
    this.#held = next;
    this.#needsEverything = false;
    this.#options.onAnswered(true);
  }
}

function isSameHeld(one: Held, other: Held): boolean {
  return isSameContent(one, other, (feature, counterpart) => feature.isSame(counterpart));
}
