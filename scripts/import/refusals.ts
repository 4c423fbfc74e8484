import { UsageError } from '../command.ts';
import { ContentRefused, ImportError } from './import-batches.ts';

/** What the target refuses: everything else is moved all the same, so that one run names it all. */
export class Refusals {
  readonly #reasons: string[] = [];

  add(what: string, reason: string): void {
    this.#reasons.push(`${what}: ${reason}`);
  }

  /** Does what may be refused. @returns whether it was done */
  async collectFrom(what: string, action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      if (!(error instanceof ContentRefused || error instanceof UsageError)) throw error;
      this.add(what, error.message);
      return false;
    }
  }

  /** @throws ImportError with everything that was refused, if anything was */
  throwIfAny(): void {
    if (this.#reasons.length === 0) return;
    const advice =
      'Change them in the Unleash, or create them here under the same name, and run the same command again.';
    throw new ImportError(['Refused, while all else is moved:', ...this.#reasons, advice].join('\n'));
  }
}
