import { OriginError } from '../upstream/origin-error.ts';
import { validateTokens, type ValidToken } from '../upstream/validate-tokens.ts';
import { digestOf } from './digest.ts';
import type { FetchOrigin } from './fetch-origin.ts';
import { kept, type KeepingOptions, repeatedly, type Waiting } from './kept.ts';
import { Refused } from './responses.ts';

const possibleToken = /^[\x21-\x7e]{1,512}$/;
/** Maximum tokens of browsers that an instance knows, and that it knows to be invalid. */
const maxTokens = 10_000;
const refusedForMs = 30_000;
/** Maximum unknown tokens that are being validated. */
const maxValidations = 50;

/** Removes the oldest entries of a map beyond a number. */
function limit(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}

/** A scope, as new as the origin gives it; `undefined` where the origin does not call the token valid. */
type KeptScope = (waiting: Waiting) => Promise<{ readonly value: { readonly scope: ValidToken | undefined } }>;

/** What tokens are for, by the word of the origin. */
export class TokenScopes {
  readonly #origin: FetchOrigin;
  readonly #keeping: KeepingOptions;
  /** by client token of the settings */
  readonly #own = new Map<string, Promise<KeptScope>>();
  /** by token of a browser */
  readonly #known = new Map<string, Promise<KeptScope>>();
  /** until when a token of a browser is invalid without a question */
  readonly #refusedUntil = new Map<string, number>();
  #validations = 0;

  constructor(origin: FetchOrigin, keeping: KeepingOptions) {
    this.#origin = origin;
    this.#keeping = keeping;
  }

  /** What client tokens of the settings are for, in their order. */
  ofOwn(tokens: readonly string[], waiting: Waiting): Promise<PromiseSettledResult<ValidToken | undefined>[]> {
    return Promise.allSettled(tokens.map((token) => this.#scopeOf(this.#own, token, waiting)));
  }

  /** What the token of a browser is for. @throws Refused, or what asking the origin threw */
  async identify(token: string, waiting: Waiting): Promise<ValidToken> {
    const invalid = new Refused(
      'AuthenticationRequired',
      'The key in the authorization header is missing or not valid.',
    );
    if (!possibleToken.test(token) || (this.#refusedUntil.get(token) ?? 0) > Date.now()) throw invalid;
    const isNew = !this.#known.has(token);
    if (isNew && this.#validations >= maxValidations)
      throw new Refused('ServiceUnavailable', 'Too many unknown keys wait to be validated. Please try again.');
    if (isNew) this.#validations++;
    try {
      const scope = await this.#scopeOf(this.#known, token, waiting);
      limit(this.#known, maxTokens);
      if (scope !== undefined) return scope;
      this.#known.delete(token);
      this.#refusedUntil.set(token, Date.now() + refusedForMs);
      limit(this.#refusedUntil, maxTokens);
      throw invalid;
    } catch (error) {
      if (isNew) this.#known.delete(token);
      throw error;
    } finally {
      if (isNew) this.#validations--;
    }
  }

  async #scopeOf(
    map: Map<string, Promise<KeptScope>>,
    token: string,
    waiting: Waiting,
  ): Promise<ValidToken | undefined> {
    let entry = map.get(token);
    if (entry === undefined) map.set(token, (entry = this.#keep(token)));
    return (await (await entry)(waiting)).value.scope;
  }

  async #keep(token: string): Promise<KeptScope> {
    const isGivenUp = repeatedly();
    return kept({
      ...this.#keeping,
      key: `token:${await digestOf(token)}`,
      read: async (held: { readonly scope: ValidToken | undefined } | undefined) => {
        const [scope] = await validateTokens(this.#origin, [token]);
        // SDKs give up for ever on a 401: one answer is not enough to end a token.
        if (scope === undefined && held?.scope !== undefined && !isGivenUp(true))
          throw new OriginError('failing', 'it does not call the token valid any more');
        if (scope !== undefined) isGivenUp(false);
        const isSame = held !== undefined && JSON.stringify(scope) === JSON.stringify(held.scope);
        return { value: isSame ? held : { scope }, staleMs: 0 };
      },
      isLost: () => false,
      // The store has no secrets.
      serialize: ({ scope }) => (scope === undefined ? undefined : JSON.stringify({ ...scope, token: undefined })),
      parse: (text) => ({ scope: { ...(JSON.parse(text) as ValidToken), token } }),
    });
  }
}
