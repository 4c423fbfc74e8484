import { type ErrorDetail, invalidProperties, Refusal } from '@bunting/contracts';
import { shortName } from '../refusals.ts';

/** The maximum number of reported errors. Missing objects come first, each once. */
const maxErrors = 500;

interface Missing {
  readonly path: string;
  readonly features: Set<string>;
}

/** Collects the errors of an import file, so that one response reports all of them. */
export class ImportErrors {
  readonly #missing = new Map<string, Missing>();
  readonly #others: ErrorDetail[] = [];

  /**
   * Adds the error of an object that the file names and that does not exist.
   * @param object the kind and the name of the object, such as `Segment "beta"`
   * @param feature the feature that refers to it
   */
  addMissing(object: string, path: string, feature: string): void {
    const missing = this.#missing.get(object);
    if (missing === undefined) this.#missing.set(object, { path, features: new Set([feature]) });
    else missing.features.add(feature);
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

  /** The message of the refusal of a rule; undefined if it does not refuse. */
  refusalOf(rule: () => void): string | undefined {
    try {
      rule();
      return undefined;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return error.message;
    }
  }

  /** @throws Refusal `ValidationError` with the errors, if there are any. */
  throwIfAny(): void {
    const details = [
      ...[...this.#missing].map(([object, { path, features }]) => {
        const [first = '', ...others] = features;
        const more = others.length === 0 ? '' : ` and ${others.length} more`;
        return {
          message: `${object} does not exist; it is used by ${shortName(first)}${more}: see the \`${path}\` property.`,
          path,
        };
      }),
      ...this.#others,
    ];
    if (details.length === 0) return;
    const omitted = details.length - maxErrors;
    throw invalidProperties(
      omitted > 0 ? [...details.slice(0, maxErrors), { message: `There are ${omitted} more faults.` }] : details,
    );
  }
}
