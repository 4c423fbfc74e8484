import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { unavailable } from '@bunting/contracts';
import {
  fetchModePolicy,
  preRoutingPollResponses,
  streamMetrics,
  streamPermits,
  streamTickets,
} from '@bunting/delivery';
import {
  admission,
  anonymousRateLimit,
  concurrentRequestLimits,
  createHttpServer,
  httpStopTimeoutMs,
  listen,
  mountHealth,
  mountMetrics,
  publicAdmission,
  requireAvailableAddress,
  type RespondBeforeRouting,
  type ServerCertificate,
  unreadResponses,
  withoutBasePath,
} from '@bunting/http';
import { defineService, type RunningService, type ServiceContext, startLoop } from '@bunting/runtime';
import type { IncomingMessage } from 'node:http';
import { Gauge, type Registry } from 'prom-client';
import { EdgeConfig, isStrict, requireConsistent, serverSettingsOf, tokensIn } from './config.ts';
import { mountBackstage, scopeDetails } from './downstream/backstage.ts';
import { mountOperations } from './downstream/mount.ts';
import { type EdgeScopes, edgeScopes } from './downstream/scopes.ts';
import { digestOf, type EdgeToken } from './downstream/token.ts';
import { openTokenFile } from './downstream/token-file.ts';
import { type EdgeTokens, edgeTokens } from './downstream/tokens.ts';
import { offlineContent, reloadBootstrap } from './offline.ts';
import { connectOrigin } from './origin.ts';
import type { OriginState } from './origin-state.ts';
import { edgeLists } from './segment-lists/edge-lists.ts';

const proxyPrefix = /^\/+api\/+proxy(?=[/?]|$)/;

function withoutFinalSlashes(path: string): string {
  return path.replace(/\/+$/, '');
}

/** Rewrites requests to what gateways get: without the base path, with the token in `Authorization`, and with the newer name of a path. */
function requestRewriter({ BASE_PATH, TOKEN_HEADER }: Pick<EdgeConfig, 'BASE_PATH' | 'TOKEN_HEADER'>) {
  const base = withoutFinalSlashes(BASE_PATH);
  const header = TOKEN_HEADER.toLowerCase();
  return (request: IncomingMessage): void => {
    request.url = withoutBasePath(request.url ?? '/', base).replace(proxyPrefix, '/api/frontend');
    if (header === 'authorization') return;
    const { [header]: token } = request.headers;
    delete request.headers.authorization;
    if (typeof token === 'string') request.headers.authorization = token;
  };
}

/** The key of the tickets of OFREP streams: the same in all edges with the same list of tokens. */
function ticketKey(listed: readonly string[]): Buffer {
  return listed.length === 0 ? randomBytes(32) : Buffer.from(digestOf(`tickets ${listed.toSorted().join()}`));
}

/** Whether a query may name tags, percent-encoded or not: an edge has none of features, and ignores them. */
function mayNameTags({ url = '' }: IncomingMessage): boolean {
  const queryAt = url.indexOf('?');
  return queryAt >= 0 && /tag|%/.test(url.slice(queryAt));
}

function measure(metrics: Registry, scopes: EdgeScopes, tokens: EdgeTokens): void {
  const registers = [metrics];
  new Gauge({
    name: 'bunting_edge_tokens',
    help: 'tokens that the edge knows, by type',
    labelNames: ['type'],
    registers,
    collect() {
      for (const type of ['client', 'frontend'] as const)
        this.set({ type }, tokens.all().filter((token) => token.type === type).length);
    },
  });
  new Gauge({
    name: 'bunting_edge_scopes',
    help: 'environments and projects that the edge follows, by how it follows the origin',
    labelNames: ['mode'],
    registers,
    collect() {
      this.reset();
      for (const { mode } of scopeDetails(scopes)) this.inc({ mode });
    },
  });
  new Gauge({
    name: 'bunting_edge_stale_seconds',
    help: 'the longest time for which the origin has not confirmed what the edge serves of an environment, although it should have; 0 while it does',
    labelNames: ['environment'],
    registers,
    collect() {
      this.reset();
      const longest = new Map<string, number>();
      for (const { environment, staleMs } of scopeDetails(scopes))
        longest.set(environment, Math.max(longest.get(environment) ?? 0, staleMs ?? 0));
      for (const [environment, staleMs] of longest) this.set({ environment }, staleMs / 1_000);
    },
  });
}

/** The token that a state was delivered to. */
function clientTokenOf({ token, environment, projects }: OriginState): EdgeToken {
  return { token, type: 'client', environment, projects };
}

/** The certificate of the settings. @throws Error that names the setting whose file cannot be read */
async function certificateOf({
  TLS_ENABLE,
  TLS_SERVER_KEY = '',
  TLS_SERVER_CERT = '',
}: EdgeConfig): Promise<ServerCertificate | undefined> {
  if (!TLS_ENABLE) return undefined;
  const read = async (setting: string, file: string): Promise<string> => {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      throw new Error(`The file that ${setting} names cannot be read: ${(error as Error).message}`, { cause: error });
    }
  };
  return { key: await read('TLS_SERVER_KEY', TLS_SERVER_KEY), cert: await read('TLS_SERVER_CERT', TLS_SERVER_CERT) };
}

async function start(context: ServiceContext<typeof EdgeConfig>): Promise<RunningService> {
  const { config, log, metrics, onStop, draining, drainDelayMs, monitoringPort } = context;
  requireConsistent(config);
  const certificate = await certificateOf(config);
  const offline = config.OFFLINE ? await offlineContent(config) : undefined;
  const port = certificate === undefined ? config.PORT : config.TLS_SERVER_PORT;
  await requireAvailableAddress(config.INTERFACE, port);
  const server = serverSettingsOf(config);
  const listed = offline === undefined ? tokensIn(config.TOKENS) : [];
  const tokenFile =
    config.BACKUP_FOLDER === undefined || config.OFFLINE
      ? undefined
      : openTokenFile({ folder: config.BACKUP_FOLDER, log });
  const lists = edgeLists({
    maxMib: config.UPSTREAM_MAX_LISTS_MIB,
    rootsInUse: () => scopes.listRoots(),
    dropFormerLists: () => scopes.dropFormerLists(),
    warn: (message) => log.warn(message),
    metrics,
  });
  const origin = config.OFFLINE ? undefined : await connectOrigin(config, { log, metrics, onStop }, lists);

  const limits = concurrentRequestLimits(server);
  const unread = unreadResponses(server);
  const tickets = streamTickets(ticketKey(listed), { basePath: withoutFinalSlashes(config.BASE_PATH) });
  const fetchMode = fetchModePolicy(server);
  const tokens: EdgeTokens = edgeTokens({
    validate: async (batch, within) => origin?.validate(batch, within) ?? [],
    listed,
    isStrict: isStrict(config),
    onKnown: (token) => {
      scopes.add(token);
      tokenFile?.changed(tokens.all);
    },
    onLost: (token) => {
      scopes.remove(token);
      tokenFile?.changed(tokens.all);
    },
  });
  const scopes: EdgeScopes = edgeScopes({
    parts: {
      config: server,
      limits,
      unread,
      permits: streamPermits(server),
      streamMetrics: streamMetrics(metrics),
      tickets,
      fetchMode,
      tokens,
      lists,
      draining,
      drainDelayMs,
      log,
    },
    tokens: () => tokens,
    follow: origin?.follow,
    snapshots: origin?.snapshots,
    log,
  });
  onStop('scopes', () => scopes.close());
  onStop('known tokens', async () => tokenFile?.close());

  // What was stored is served before the origin is asked.
  const states = offline?.states ?? (await origin?.snapshots?.read()) ?? [];
  for (const state of states) scopes.restore(state);
  const stored = offline?.tokens ?? (await tokenFile?.read()) ?? states.map(clientTokenOf);
  tokens.restore(stored);
  if (offline !== undefined && config.RELOAD_INTERVAL > 0)
    onStop('bootstrap file', reloadBootstrap(config, { states: offline.states, onState: scopes.restore, log }));
  measure(metrics, scopes, tokens);

  const { admit, admitBeforeRouting } = admission({
    authenticate: tokens.authenticate,
    // An edge has neither sessions nor sign-ins.
    sameOrigin: { requireOwnPage: () => undefined, refuseForeignPage: () => undefined },
    signInOptions: async () => {
      throw unavailable('An edge has no sign-in.');
    },
    limits,
    log,
    config: server,
  });
  const admitPublic = publicAdmission({
    limits,
    sameOrigin: { requireOwnPage: () => undefined, refuseForeignPage: () => undefined },
    requireStarted: () => undefined,
    config: server,
  });
  const preRouted = preRoutingPollResponses({
    deliveryTo: scopes.deliveryTo,
    authenticateFromCache: tokens.authenticateFromCache,
    admitBeforeRouting,
    directToStream: fetchMode.directToStream,
  });
  const respondBeforeRouting: RespondBeforeRouting = (request) =>
    mayNameTags(request) ? undefined : preRouted(request);
  const { app, close } = createHttpServer({
    config: server,
    log,
    metrics,
    admit,
    draining,
    limits,
    unread,
    certificate,
    prepare: requestRewriter(config),
    tokenHeader: config.TOKEN_HEADER,
    respondBeforeRouting,
  });
  const edgeReports = origin?.startEdgeReports({
    tokens: () => {
      const known = tokens.all().filter(({ type }) => type === 'client');
      return known
        .map(({ token }) => token)
        .sort((one, other) => Number(listed.includes(other)) - Number(listed.includes(one)));
    },
    scopes: () => scopeDetails(scopes),
  });
  mountOperations(app, {
    config: server,
    admit,
    admitPublic,
    limits,
    scopes,
    tokens,
    tickets,
    reports: origin?.reports,
    edgeReports,
  });

  const requireReady = (): void => {
    if (draining.aborted) throw new Error('The edge is stopping: send requests to another one.');
    const hasState = scopes.all().some(({ scope }) => scope.state() !== undefined);
    if (!hasState && (listed.length > 0 || scopes.all().length > 0))
      throw new Error('The edge has no features yet: neither its origin nor a snapshot has delivered any.');
  };
  const ready = async () => {
    requireReady();
    const isBehind = scopeDetails(scopes).some(({ staleMs }) => staleMs === null || staleMs > 0);
    return isBehind ? { unavailable: ['origin'] } : undefined;
  };
  const limit = anonymousRateLimit(server);
  mountHealth(app, async () => (await ready()) ?? {});
  if (monitoringPort === 0) mountMetrics(app, metrics, limit);
  mountBackstage(app, {
    scopes,
    tokens,
    lists,
    admit,
    requireReady,
    pending: () => origin?.reports.pending() ?? {},
    limit,
  });
  onStop('HTTP server', close, httpStopTimeoutMs(server));
  const listening = await listen(app, config.INTERFACE, port);
  // Fastify does not know that its server speaks TLS.
  const address = certificate === undefined ? listening : listening.replace(/^http:/, 'https:');
  if (origin !== undefined) {
    const stopping = new AbortController();
    const validation = startLoop({
      name: 'The validation of tokens at the origin',
      intervalMs: config.TOKEN_REVALIDATION_INTERVAL_SECONDS * 1_000,
      maxBackoffMs: 15_000,
      run: () => tokens.revalidate({ signal: stopping.signal }),
      log,
    });
    onStop('validation of tokens', () => {
      const stopped = validation.stop();
      stopping.abort();
      return stopped;
    });
  }
  return { ready, checksBus: true, address };
}

/** An edge: serves SDKs, browsers and OFREP clients from memory, and follows an origin. */
export const edgeService = defineService({ name: 'edge', config: EdgeConfig, start });
