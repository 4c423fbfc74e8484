import type { OriginError } from './origin-error.ts';

/** How an edge learns of changes, the best first. */
export const modes = ['streaming', 'delta', 'polling'] as const;
export type Mode = (typeof modes)[number];

/** How often streams may fail in a row before another mode is used for a while. */
const maxStreamFailures = 3;
/** A stream that ends earlier counts as failed. */
const shortStreamMs = 10_000;

interface ModeSettings {
  /** the modes that may be used; `polling` is used where no other works */
  readonly modes: ReadonlySet<Mode>;
  /** milliseconds until a mode that the origin does not have, or that did not work, is tried again */
  readonly betterModeAfterMs: number;
}

/** Which modes may be used now: those that the origin does not have, or that did not work, are left alone for a while. */
export class UsableModes {
  readonly #settings: ModeSettings;
  readonly #now: () => number;
  readonly #usableAt = new Map<Mode, number>();
  #streamFailures = 0;

  /** @param now monotonic milliseconds */
  constructor(settings: ModeSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** how often in a row a stream has failed */
  get streamFailures(): number {
    return this.#streamFailures;
  }

  has(mode: Mode): boolean {
    return mode === 'polling' || (this.#settings.modes.has(mode) && (this.#usableAt.get(mode) ?? 0) <= this.#now());
  }

  /** The modes that may be used, the best first. */
  list(): readonly Mode[] {
    return modes.filter((mode) => this.has(mode));
  }

  leave(mode: Mode, forMs: number): void {
    this.#usableAt.set(mode, this.#now() + forMs);
  }

  /** The origin does not have it. */
  leaveUnsupported(mode: Mode): void {
    this.leave(mode, this.#settings.betterModeAfterMs);
  }

  streamFailed(): void {
    this.#streamFailures++;
  }

  /** A stream has ended. @param openedAt when it began @param isExpected it was ended for another reason than itself */
  streamEnded(openedAt: number, isExpected: boolean): void {
    const isFailure = this.#now() - openedAt < shortStreamMs && !isExpected;
    this.#streamFailures = isFailure ? this.#streamFailures + 1 : 0;
    if (this.#hasFailedStreams) this.leave('streaming', this.#settings.betterModeAfterMs / 10);
  }

  /** For how long a mode that failed is left alone, if another one works; undefined after an error that says nothing about the mode. */
  pauseAfter(mode: Mode, { fault }: OriginError): number | undefined {
    if (mode === 'polling' || fault === 'refused') return undefined;
    const { betterModeAfterMs } = this.#settings;
    if (fault === 'unsupported') return betterModeAfterMs;
    const isBroken = fault === 'unusable' || (mode === 'streaming' && this.#hasFailedStreams);
    return isBroken ? betterModeAfterMs / 10 : undefined;
  }

  get #hasFailedStreams(): boolean {
    return this.#streamFailures >= maxStreamFailures;
  }
}
