import { type ClientFeature, staleHeader } from '@bunting/contracts';
import { compileEvaluator, type Evaluator } from '@bunting/evaluation';
import { covers, scopeKeyOf } from '../token-scope.ts';
import { type Contents, readFeature, readFullAnswer } from '../upstream/contents.ts';
import { OriginError } from '../upstream/origin-error.ts';
import { restorationWatch } from '../upstream/restored-origin.ts';
import type { ValidToken } from '../upstream/validate-tokens.ts';
import { digestOf } from './digest.ts';
import type { FetchOrigin } from './fetch-origin.ts';
import { type Confirmed, kept, type KeepingOptions, repeatedly, type Waiting } from './kept.ts';
import { Refused } from './responses.ts';

/** What an origin delivers to a client token, compiled at the first use. */
interface Flags {
  readonly contents: Contents<ClientFeature>;
  readonly evaluators: Map<string, Evaluator>;
}

/** As an edge believes an older origin (ADR 43). */
const restoration = { olderAnswers: 5, olderForMs: 5_000 };
const clientSpec = '5.2.0';

function serializeContents(contents: Flags['contents']): string {
  const { features, segments, ...rest } = contents;
  return JSON.stringify({ ...rest, features: [...features], segments: [...segments] });
}

function parseContents(text: string): Flags['contents'] {
  const { features, segments, ...rest } = JSON.parse(text) as Omit<Flags['contents'], 'features' | 'segments'> & {
    readonly features: never;
    readonly segments: never;
  };
  return { ...rest, features: new Map(features), segments: new Map(segments) };
}

/** The evaluator of the projects of a token. */
function evaluatorOf({ contents: { features, segments }, evaluators }: Flags, scope: ValidToken): Evaluator {
  const key = scopeKeyOf(scope);
  const compiled = evaluators.get(key);
  if (compiled !== undefined) return compiled;
  const included = [...features.values()].filter(
    ({ project }) => scope.projects.includes('*') || scope.projects.includes(project),
  );
  // A list by reference is for edges that ask for it: the constraint that stands for it matches nobody.
  const withoutLists = [...segments.values()].map(({ id, constraints }) => ({ id, constraints }));
  const evaluator = compileEvaluator(included, withoutLists);
  evaluators.set(key, evaluator);
  return evaluator;
}

/** How the flags of a token are evaluated, and the headers that say how old they are. */
interface Evaluation {
  readonly evaluator: Evaluator;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** The flags that an origin delivers to the client tokens of the settings, each asked for at its first use. */
export class DeliveredFlags {
  readonly #tokens: readonly string[];
  readonly #origin: FetchOrigin;
  readonly #keeping: KeepingOptions;
  readonly #followed = new Map<string, Promise<(waiting: Waiting) => Promise<Confirmed<Flags>>>>();

  constructor(tokens: readonly string[], origin: FetchOrigin, keeping: KeepingOptions) {
    this.#tokens = tokens;
    this.#origin = origin;
    this.#keeping = keeping;
  }

  /**
   * The flags that a frontend token gets, with the evaluator of its projects.
   * @param scopes what the client tokens are for, as far as it is known
   * @throws Refused where none of them has the flags, or what asking the origin threw
   */
  async evaluationFor(
    scope: ValidToken,
    scopes: readonly PromiseSettledResult<ValidToken | undefined>[],
    waiting: Waiting,
  ): Promise<Evaluation> {
    const token = this.#tokens.find((_, nth) => {
      const one = scopes[nth];
      return one?.status === 'fulfilled' && one.value?.type === 'client' && covers(one.value, scope);
    });
    if (token === undefined) {
      const unknown = scopes.find((one) => one.status === 'rejected');
      if (unknown !== undefined) throw unknown.reason;
      throw new Refused(
        'ServiceUnavailable',
        `No client token of this edge is for the environment ${scope.environment} and the projects of the key.`,
      );
    }
    let flags = this.#followed.get(token);
    if (flags === undefined) this.#followed.set(token, (flags = this.#keep(token)));
    const { value, confirmedAt, originStaleMs } = await (await flags)(waiting);
    const staleMs = Date.now() - confirmedAt;
    // Between two questions flags are as new as those of an edge that polls.
    const isStale = originStaleMs > 0 || staleMs >= this.#keeping.maxAgeMs;
    return {
      evaluator: evaluatorOf(value, scope),
      headers: isStale ? { [staleHeader]: String(staleMs) } : undefined,
    };
  }

  async #keep(token: string) {
    const watch = restorationWatch(restoration, () => Date.now());
    const isGivenUp = repeatedly();
    const read = async (held: Flags | undefined) => {
      const answer = await this.#origin.get({
        path: '/api/client/features',
        token,
        headers: {
          'unleash-client-spec': clientSpec,
          'unleash-sdk': 'bunting-edge',
          ...(held?.contents.entityTag == null ? {} : { 'if-none-match': held.contents.entityTag }),
        },
      });
      isGivenUp(false);
      if (answer.status === 304 && held !== undefined) {
        watch.seen();
        return { value: held, staleMs: answer.staleMs };
      }
      const contents = readFullAnswer(
        answer.body,
        { entityTag: answer.headers.get('etag'), held: held?.contents },
        readFeature,
      );
      // A replica that lags must not take users back (ADR 43).
      if (held !== undefined && contents.revision < held.contents.revision && !watch.seenOlder())
        throw new OriginError('failing', 'its answer is older than the one before');
      watch.seen();
      return { value: { contents, evaluators: new Map() }, staleMs: answer.staleMs };
    };
    return kept<Flags>({
      ...this.#keeping,
      key: `flags:${await digestOf(token)}`,
      read,
      isLost: (error) => error instanceof OriginError && error.fault === 'refused' && isGivenUp(true),
      serialize: ({ contents }) => serializeContents(contents),
      parse: (text) => ({ contents: parseContents(text), evaluators: new Map() }),
    });
  }
}
