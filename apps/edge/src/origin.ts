import { type ClientFeatures, type ValidEdgeTokens, ValidateEdgeTokens } from '@bunting/contracts';
import { startLoop, type ServiceContext } from '@bunting/runtime';
import type { EdgeConfig } from './config.ts';
import type { Reports } from './downstream/mount.ts';
import type { Following } from './downstream/scopes.ts';
import type { EdgeToken } from './downstream/token.ts';
import type { OriginState } from './origin-state.ts';

export interface Origin {
  readonly validate: (tokens: readonly string[]) => Promise<readonly EdgeToken[]>;
  readonly follow: (
    token: EdgeToken,
    on: { readonly state: (state: OriginState) => void; readonly refused: () => void },
  ) => Following;
  readonly snapshots:
    | {
        readonly read: () => Promise<readonly OriginState[]>;
        readonly write: (state: OriginState) => Promise<void>;
        readonly remove: (token: string) => void | Promise<void>;
      }
    | undefined;
  readonly reports: Reports & { readonly pending: () => unknown };
}

export async function connectOrigin(
  config: EdgeConfig,
  { log }: Pick<ServiceContext<typeof EdgeConfig>, 'log' | 'metrics' | 'onStop'>,
): Promise<Origin> {
  const at = (path: string) => `${(config.UPSTREAM_URL ?? '').replace(/\/+$/, '')}${path}`;
  const timeout = () => AbortSignal.timeout(config.UPSTREAM_REQUEST_TIMEOUT * 1_000);
  const intervalMs = config.FEATURES_REFRESH_INTERVAL_SECONDS * 1_000;
  const send = async (path: string, token: string, body: unknown): Promise<void> => {
    await fetch(at(path), {
      method: 'POST',
      headers: { [config.TOKEN_HEADER]: token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: timeout(),
    });
  };
  return {
    validate: async (tokens) => {
      const response = await fetch(at(ValidateEdgeTokens.http?.url ?? ''), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ tokens }),
        signal: timeout(),
      });
      if (!response.ok) throw new Error(`The origin answers ${response.status} to a validation of tokens.`);
      return ((await response.json()) as ValidEdgeTokens).tokens;
    },
    follow: (token, on) => {
      let tag: string | null = null;
      let confirmedAt: number | undefined;
      const since = Date.now();
      const loop = startLoop({
        name: 'The polling of the origin',
        intervalMs,
        maxBackoffMs: intervalMs,
        log,
        run: async () => {
          const response = await fetch(at('/api/client/features'), {
            headers: {
              [config.TOKEN_HEADER]: token.token,
              'unleash-client-spec': '5.2.0',
              ...(tag === null ? {} : { 'if-none-match': tag }),
            },
            signal: timeout(),
          });
          if (response.status === 401 || response.status === 403) return on.refused();
          if (response.status !== 304) {
            if (!response.ok) throw new Error(`The origin answers ${response.status} to a poll.`);
            const body = (await response.json()) as ClientFeatures;
            tag = response.headers.get('etag');
            on.state({
              token: token.token,
              environment: token.environment,
              projects: token.projects,
              revision: body.meta.revisionId,
              historyFrom: 0,
              entityTag: tag,
              features: body.features,
              segments: body.segments ?? [],
              fetchedAt: new Date(),
            });
          }
          confirmedAt = Date.now();
        },
      });
      return {
        mode: () => 'polling',
        behindMs: () => {
          const age = Date.now() - (confirmedAt ?? since);
          return age > 2 * intervalMs ? age : 0;
        },
        close: () => loop.stop(),
      };
    },
    snapshots: undefined,
    reports: {
      addMetrics: (token, body) => send('/api/client/metrics', token, body),
      addRegistration: (token, body) => send('/api/client/register', token, body),
      pending: () => ({}),
    },
  };
}
