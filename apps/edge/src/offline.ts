import { readFile } from 'node:fs/promises';
import type { ClientFeature, ClientSegment } from '@bunting/contracts';
import { type Log, startLoop } from '@bunting/runtime';
import { type EdgeConfig, tokensIn } from './config.ts';
import { type EdgeToken, parseToken } from './downstream/token.ts';
import { OriginFeature } from './origin-feature.ts';
import type { OriginState } from './origin-state.ts';

interface Bootstrap {
  readonly features: readonly OriginFeature[];
  readonly segments: readonly ClientSegment[];
  readonly revision: number;
}

/** Reads a response of `/api/client/features`. @throws Error that says what is wrong with the file */
async function readBootstrap(file: string): Promise<Bootstrap> {
  let content: { features?: unknown; segments?: unknown; meta?: { revisionId?: unknown } };
  try {
    content = JSON.parse(await readFile(file, 'utf8')) as typeof content;
  } catch (error) {
    throw new Error(`BOOTSTRAP_FILE cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const { features, segments = [], meta } = content ?? {};
  const hasNames =
    Array.isArray(features) &&
    features.every((one: { name?: unknown } | null) => typeof one?.name === 'string') &&
    Array.isArray(segments);
  if (!hasNames)
    throw new Error('BOOTSTRAP_FILE must be a response of /api/client/features: it has no list of features.');
  return {
    features: (features as Partial<ClientFeature>[]).map(
      (feature) =>
        new OriginFeature({
          ...(feature as ClientFeature),
          enabled: feature.enabled ?? false,
          project: feature.project ?? 'default',
          type: feature.type ?? 'release',
          stale: feature.stale ?? false,
          strategies: (feature.strategies ?? []).map((strategy) => ({
            ...strategy,
            constraints: strategy.constraints ?? [],
            parameters: strategy.parameters ?? {},
            variants: strategy.variants ?? [],
          })),
          variants: feature.variants ?? [],
        }),
    ),
    // A file has no blocks: the constraint that stands for a list matches nobody.
    segments: (segments as ClientSegment[]).map(({ list: _, ...segment }) => segment),
    revision: typeof meta?.revisionId === 'number' ? meta.revisionId : 1,
  };
}

/** What a token of the settings is for, without an origin that could tell: what it says itself, or everything in `default`. */
function offlineToken(token: string, type: EdgeToken['type']): EdgeToken {
  const { project = '*', environment = 'default' } = parseToken(token) ?? {};
  return { token, type, environment, projects: [project === '[]' ? '*' : project] };
}

/** Reads the bootstrap file again and again, and hands over what has changed. @returns what ends it */
export function reloadBootstrap(
  config: EdgeConfig,
  {
    states,
    onState,
    log,
  }: { readonly states: readonly OriginState[]; readonly onState: (state: OriginState) => void; readonly log: Log },
): () => Promise<void> {
  const contentOf = ({ features, segments }: OriginState): string => JSON.stringify([features, segments]);
  const served = new Map(states.map((state) => [state.token, { revision: state.revision, content: contentOf(state) }]));
  const loop = startLoop({
    name: 'Reading BOOTSTRAP_FILE again',
    intervalMs: config.RELOAD_INTERVAL * 1_000,
    firstAfterMs: config.RELOAD_INTERVAL * 1_000,
    log,
    run: async () => {
      for (const state of (await offlineContent(config)).states) {
        const before = served.get(state.token);
        const content = contentOf(state);
        if (before?.content === content) continue;
        // A file that says nothing of revisions, or an older one, is a later state all the same.
        const revision = Math.max(state.revision, (before?.revision ?? 0) + 1);
        onState({ ...state, revision });
        served.set(state.token, { revision, content });
      }
    },
  });
  return () => loop.stop();
}

/** The tokens and states that an edge without an origin serves. @throws Error that names the setting that is wrong */
export async function offlineContent(config: EdgeConfig): Promise<{
  readonly tokens: readonly EdgeToken[];
  readonly states: readonly OriginState[];
}> {
  const { features, segments, revision } = await readBootstrap(config.BOOTSTRAP_FILE ?? '');
  const frontends = tokensIn(config.FRONTEND_TOKENS).map((token) => offlineToken(token, 'frontend'));
  // A token that is in both lists is published with pages.
  const clients = tokensIn(config.CLIENT_TOKENS)
    .filter((token) => !frontends.some((frontend) => frontend.token === token))
    .map((token) => offlineToken(token, 'client'));
  if (clients.length + frontends.length === 0)
    throw new Error('OFFLINE requires tokens: name those that are accepted in CLIENT_TOKENS or FRONTEND_TOKENS.');
  const states = [...clients, ...frontends].map(({ token, environment, projects }) => ({
    token,
    environment,
    projects,
    revision,
    historyFrom: 0,
    entityTag: null,
    features: projects.includes('*') ? features : features.filter(({ project }) => projects.includes(project)),
    segments,
    fetchedAt: new Date(),
  }));
  return { tokens: [...clients, ...frontends], states };
}
