import { GetClientFeatures, permissionsFor } from '@bunting/contracts';
import { type Admit, requirePermission } from '@bunting/http';
import { buntingVersion } from '@bunting/runtime';
import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify';
import type { EdgeLists } from '../segment-lists/edge-lists.ts';
import type { EdgeScopes } from './scopes.ts';
import type { EdgeTokens } from './tokens.ts';

/** A token without its secret. */
function masked(token: string): string {
  const dot = token.indexOf('.');
  return dot < 0 ? '***' : `${token.slice(0, dot)}.***`;
}

export interface BackstageOptions {
  readonly scopes: EdgeScopes;
  readonly tokens: EdgeTokens;
  readonly lists: Pick<EdgeLists, 'tooLarge'>;
  readonly admit: Admit;
  /** throws an error with the reason while the edge has nothing to serve */
  readonly requireReady: () => void;
  /** what waits for the origin */
  readonly pending: () => unknown;
  readonly limit: preHandlerAsyncHookHandler;
}

/** What an edge knows of its scopes, without anything of their features. */
export function scopeDetails(scopes: EdgeScopes) {
  return scopes.all().map(({ scope, following }) => {
    const state = scope.state();
    return {
      environment: scope.environment,
      projects: scope.projects,
      revision: state?.revision ?? null,
      fetchedAt: state?.fetchedAt.toISOString() ?? null,
      mode: following?.mode() ?? 'none',
      staleMs: state === undefined ? null : scopeStaleness(scope),
    };
  });
}

function scopeStaleness({
  delivery,
}: EdgeScopes extends { all: () => readonly { scope: infer S }[] } ? S : never): number {
  const behind = delivery.catchUp();
  return typeof behind === 'number' ? behind : 0;
}

/** Adds the paths below which Unleash Edge tells how it is. */
export function mountBackstage(app: FastifyInstance, options: BackstageOptions): void {
  const { scopes, tokens, lists, admit, requireReady, pending, limit } = options;
  const base = '/internal-backstage';
  app.get(`${base}/health`, { preHandler: limit }, async () => {
    const stale = scopeDetails(scopes).filter(({ staleMs }) => staleMs !== null && staleMs > 0);
    const oldestMs = Math.max(0, ...stale.map(({ staleMs }) => staleMs ?? 0));
    return {
      status: 'OK',
      version: buntingVersion(),
      scopes: scopes.all().length,
      stale: stale.length,
      oldestMs,
      listsTooLarge: lists.tooLarge,
    };
  });
  app.get(`${base}/info`, { preHandler: limit }, async () => ({
    appName: 'bunting-edge',
    packageVersion: buntingVersion(),
  }));
  app.get(`${base}/ready`, { preHandler: limit }, async (_request, reply) => {
    try {
      requireReady();
      return { status: 'READY' };
    } catch (error) {
      return reply
        .code(503)
        .header('retry-after', '1')
        .send({ status: 'NOT_READY', reason: (error as Error).message });
    }
  });
  app.get(`${base}/tokens`, { preHandler: limit }, async () => ({
    tokens: tokens.all().map((token) => ({ ...token, token: masked(token.token) })),
    scopes: scopeDetails(scopes),
  }));
  app.get(`${base}/metricsbatch`, { preHandler: limit }, async () => pending());
  // Features are for those who get them from /api/client/features, too: pages publish their frontend tokens.
  app.get(`${base}/features`, { config: { isOperation: true } }, async (request, reply) => {
    const principal = await admit(request, reply);
    const { caller } = principal;
    requirePermission(caller, permissionsFor(GetClientFeatures), {});
    const handle = scopes.require(principal).handlers.get(GetClientFeatures.subject);
    if (handle === undefined) throw new Error(`${GetClientFeatures.subject} has no handler.`);
    return handle(request, reply, { caller, params: {}, query: {}, body: undefined });
  });
}
