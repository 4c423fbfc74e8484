import { type ErrorDetail, invalidAll, Refusal } from '@bunting/contracts';
import { shortName } from '../refusals.ts';

/** The maximum number of reported errors. Missing objects come first, each once. */
const maxErrors = 500;

interface Missing {
  readonly path: string;
  readonly users: Set<string>;
}

/** Collects the errors of an import file, so that one response reports all of them. */
export class ImportErrors {
  readonly #missing = new Map<string, Missing>();
  readonly #others: ErrorDetail[] = [];

  /**
   * Adds the error of an object that the file names and that does not exist.
   * @param object what and which it is, as the message begins
   */
  addMissing(object: string, path: string, user: string): void {
    const known = this.#missing.get(object);
    if (known === undefined) this.#missing.set(object, { path, users: new Set([user]) });
    else known.users.add(user);
  }

  add(message: string, path: string): void {
    this.#others.push({ message: `${message}: see the \`${path}\` property.`, path });
  }

  /** Returns the result of a rule, or adds its refusal to the errors. */
  capture<T>(rule: () => T): T | undefined {
    try {
      return rule();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#others.push(...error.details.map((detail) => ({ ...detail, message: error.message })));
      return undefined;
    }
  }

  /** Why a rule refuses, if it does. */
  refusalOf(rule: () => void): string | undefined {
    try {
      rule();
      return undefined;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return error.message;
    }
  }

  /** @throws Refusal `ValidationError` with every fault there is. */
  throwIfAny(): void {
    const details = [
      ...[...this.#missing].map(([object, { path, users }]) => {
        const [first = '', ...others] = users;
        const more = others.length === 0 ? '' : ` and ${others.length} more`;
        return {
          message: `${object} does not exist; it is used by ${shortName(first)}${more}: see the \`${path}\` property.`,
          path,
        };
      }),
      ...this.#others,
    ];
    if (details.length === 0) return;
    const left = details.length - maxErrors;
    throw invalidAll(
      left > 0 ? [...details.slice(0, maxErrors), { message: `There are ${left} more faults.` }] : details,
    );
  }
}
