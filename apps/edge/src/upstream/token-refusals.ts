const refusalsUntilGivenUp = 3;

interface RefusalSettings {
  /** for how many milliseconds the origin must refuse a token, in at least three answers, until its state is given up */
  readonly refusedAfterMs: number;
  /** milliseconds between two uses of a token that is refused */
  readonly refusedRetryMs: number;
}

/** Whether an origin has refused a token often enough, and for long enough, for what it delivered to be given up. */
export class TokenRefusals {
  readonly #settings: RefusalSettings;
  readonly #now: () => number;
  #inARow = 0;
  #since = 0;
  #isGivenUp = false;

  /** @param now monotonic milliseconds */
  constructor(settings: RefusalSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** The origin has answered otherwise. */
  end(): void {
    this.#inARow = 0;
  }

  /** What the origin delivered to the token is held again. */
  restore(): void {
    this.#isGivenUp = false;
  }

  /** The origin refuses the token. @returns the pause before its next use, and whether its state is given up by this answer */
  add(): { readonly pauseMs: number; readonly isGivenUpNow: boolean } {
    const { refusedAfterMs, refusedRetryMs } = this.#settings;
    if (this.#inARow === 0) this.#since = this.#now();
    this.#inARow++;
    if (this.#isGivenUp) return { pauseMs: refusedRetryMs * (0.9 + Math.random() / 5), isGivenUpNow: false };
    if (this.#inARow < refusalsUntilGivenUp || this.#now() - this.#since < refusedAfterMs)
      return { pauseMs: refusedAfterMs / refusalsUntilGivenUp, isGivenUpNow: false };
    this.#isGivenUp = true;
    return { pauseMs: refusedRetryMs, isGivenUpNow: true };
  }
}
