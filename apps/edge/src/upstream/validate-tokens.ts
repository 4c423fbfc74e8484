import type { OriginRequest } from './origin-client.ts';
import { OriginError } from './origin-error.ts';

/** A token that the origin accepts, with what it is for. */
export interface ValidToken {
  readonly token: string;
  readonly type: 'client' | 'frontend';
  readonly environment: string;
  /** `['*']` for all */
  readonly projects: readonly string[];
}

/** Requests to an origin. They throw an OriginError. */
export interface TokenOrigin {
  readonly get: (request: OriginRequest) => Promise<{ readonly body: unknown }>;
  readonly ask: (request: OriginRequest) => Promise<{ readonly body: unknown }>;
}

type Json = Readonly<Record<string, unknown>>;

/** How many tokens one request names. */
const batchSize = 100;
/** What a header can carry: anything else is no token of any origin. */
const possibleToken = /^[\x21-\x7e]{1,512}$/;
/** No feature begins with it: the answer says what the token is for, and is short. */
const noFeatures = 'namePrefix=%00';

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text): text is string => typeof text === 'string' && text !== '') : [];
}

function validTokenOf(value: unknown): ValidToken | undefined {
  const { token, type, environment, projects } = (value ?? {}) as Json;
  if (typeof token !== 'string' || typeof environment !== 'string' || environment === '') return undefined;
  const kind = String(type).toLowerCase();
  if (kind !== 'client' && kind !== 'backend' && kind !== 'frontend') return undefined;
  const named = texts(projects);
  return {
    token,
    environment,
    type: kind === 'frontend' ? kind : 'client',
    projects: named.length === 0 || named.includes('*') ? ['*'] : named,
  };
}

/** The environment and projects in the text of a token, `<project>:<environment>.<secret>`; undefined where it has another form. */
export function scopeInToken(token: string): Pick<ValidToken, 'environment' | 'projects'> | undefined {
  const { project, environment } = /^(?<project>[^:]+):(?<environment>[^.:]+)\./.exec(token)?.groups ?? {};
  if (project === undefined || environment === undefined) return undefined;
  return { environment, projects: [project === '[]' ? '*' : project] };
}

/** What a token is for, found by using it; undefined where the origin refuses it. @throws OriginError if the origin does not tell */
async function triedToken(
  client: TokenOrigin,
  token: string,
  within: Pick<OriginRequest, 'signal'>,
): Promise<ValidToken | undefined> {
  const attempts = [
    { type: 'client', path: `/api/client/features?${noFeatures}` },
    { type: 'frontend', path: '/api/frontend' },
  ] as const;
  for (const { type, path } of attempts) {
    try {
      const { body } = await client.get({ path, token, ...within });
      const { environment, project } = ((body as Json | undefined)?.['query'] ?? {}) as Json;
      const scope = scopeInToken(token);
      const named = texts(project);
      return validTokenOf({
        token,
        type,
        environment: environment ?? scope?.environment,
        projects: named.length > 0 ? named : scope?.projects,
      });
    } catch (error) {
      if (!(error instanceof OriginError) || error.fault !== 'refused') throw error;
    }
  }
  return undefined;
}

/**
 * Those of the tokens that the origin accepts from SDKs. An origin without `/edge/validate` is asked with each token for what it delivers.
 * @throws OriginError if the origin does not tell
 */
export async function validateTokens(
  client: TokenOrigin,
  tokens: readonly string[],
  within: Pick<OriginRequest, 'signal'> = {},
): Promise<readonly ValidToken[]> {
  const possible = [...new Set(tokens)].filter((token) => possibleToken.test(token));
  const valid: ValidToken[] = [];
  for (let start = 0; start < possible.length; start += batchSize) {
    const batch = possible.slice(start, start + batchSize);
    try {
      const { body } = await client.ask({ path: '/edge/validate', json: { tokens: batch }, ...within });
      const { tokens: answered } = (body ?? {}) as Json;
      if (!Array.isArray(answered)) throw new OriginError('unusable', 'its list of valid tokens is none');
      valid.push(
        ...answered.flatMap((token) => validTokenOf(token) ?? []).filter(({ token }) => batch.includes(token)),
      );
    } catch (error) {
      if (!(error instanceof OriginError) || error.fault !== 'unsupported') throw error;
      for (const token of batch) {
        const tried = await triedToken(client, token, within);
        if (tried !== undefined) valid.push(tried);
      }
    }
  }
  return valid;
}
