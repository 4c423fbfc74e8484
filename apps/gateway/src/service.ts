import { completeEndpoints, inProcessBus } from '@bunting/bus';
import { operations, serviceOf } from '@bunting/contracts';
import { refreshRightsAfter } from './authorisation/refresh-rights.ts';
import { openDatabase } from '@bunting/database';
import { measureDeadLetters, readDeadLettersEndpoint, startOutboxProducer } from '@bunting/outbox';
import { type AnyService, drainTimeoutMs, type RunningService, type ServiceContext } from '@bunting/runtime';
import { admission, anonymousRateLimit } from './admission/admit.ts';
import { configuredTokens } from './domain/configured-tokens.ts';
import { authenticator } from './authentication/authenticate.ts';
import { GatewayConfig } from './config.ts';
import { splitOrigins } from './http/cors.ts';
import { mountDocs } from './openapi/docs-page.ts';
import { mountHealth } from './monitoring/health.ts';
import { mountMetrics } from './monitoring/metrics-page.ts';
import { mountOperation } from './http/mount.ts';
import { openApiDocument, version } from './openapi/document.ts';
import { gatewayEndpoints } from './operations/index.ts';
import { projectCatalogue } from './operations/project-catalogue.ts';
import { listenForAccessChanges } from './persistence/rights/access-change-listener.ts';
import { accessReader } from './persistence/rights/access-reader.ts';
import { accountCounter, instanceId } from './persistence/accounts/account-statistics.ts';
import { ensureInitialTokens } from './persistence/tokens/initial-tokens.ts';
import { lastSeenRecorder } from './persistence/tokens/last-seen.ts';
import { gatewayEntities } from './persistence/entities.ts';
import { gatewayMigrations } from './persistence/migrations/index.ts';
import { configuredCipher } from './persistence/tokens/token-cipher.ts';
import { openTokenHasher } from './persistence/tokens/token-hasher.ts';
import { unitOfWork } from './persistence/unit-of-work.ts';
import { knownProjectsReader } from './persistence/projects/existing-projects.ts';
import { eraseSealedSecrets } from './persistence/tokens/token-repository.ts';
import { tokenLookup } from './persistence/tokens/token-lookup.ts';
import { requestLimits } from './admission/request-limits.ts';
import { httpStopTimeoutMs, listen, createHttpServer } from './http/server.ts';
import { startRemovingStaleHidings } from './subscriptions/remove-stale-hidings.ts';
import { projectHidings } from './persistence/projects/project-hidings.ts';
import { followProjects } from './subscriptions/follow-projects.ts';

export interface RunningGateway extends RunningService {
  /** at the very first start only, and nowhere else: for whoever started it */
  readonly firstAdminToken?: string;
}

/** How long one question whether the gateway is ready waits for it to hear of projects for the first time. */
const firstProjectsMs = 1_000;

const start = async ({
  config,
  bus,
  log,
  metrics,
  serve,
  onStop: atStop,
  draining,
  operationsPort,
}: ServiceContext<typeof GatewayConfig>): Promise<RunningGateway> => {
  const warn = (message: string) => log.warn(message);
  const given = configuredTokens(config);
  const cipher = configuredCipher(config);
  const database = await openDatabase({
    url: config.GATEWAY_DATABASE_URL,
    name: 'gateway',
    migrations: gatewayMigrations,
    entities: gatewayEntities,
    poolMax: config.GATEWAY_DATABASE_POOL_MAX,
    statementTimeoutMs: config.GATEWAY_STATEMENT_TIMEOUT_MS,
    warn,
    logError: (message) => log.error(message),
  });
  atStop('database', () => database.close());
  const telling = startOutboxProducer({
    producer: 'gateway',
    database,
    bus,
    intervalMs: config.GATEWAY_RELAY_POLL_INTERVAL_MS,
    retentionHours: config.GATEWAY_OUTBOX_RETENTION_HOURS,
    idempotencyRetentionHours: config.GATEWAY_IDEMPOTENCY_RETENTION_HOURS,
    warn,
  });
  atStop('relay', () => telling.relay.stop());
  const uses = lastSeenRecorder(database, { intervalMs: config.GATEWAY_LAST_SEEN_FLUSH_INTERVAL_MS, warn });
  atStop('last uses of tokens', () => uses.stop());
  const hasher = await openTokenHasher(database, config.GATEWAY_TOKEN_KEY);
  if (cipher === undefined) {
    const erased = await eraseSealedSecrets(database);
    if (erased > 0) {
      warn(
        `Erased the encrypted secrets of ${erased} SDK tokens, which go on working: GATEWAY_READABLE_SDK_TOKENS is off.`,
      );
    }
  }
  const { authenticate, invalidateCache: forget } = authenticator({
    tokens: tokenLookup(database),
    hasher,
    cacheTtlMs: config.GATEWAY_TOKEN_CACHE_TTL_MS,
    onUse: uses.record,
  });
  const limits = requestLimits(config);
  const admit = admission({ authenticate, limits, log, config });
  const changes = listenForAccessChanges(database, forget);
  atStop('revocations', () => changes.stop());
  const logError = (message: string) => log.error(message);
  const intervalMs = config.GATEWAY_PROJECTS_POLL_INTERVAL_MS;
  const projects = await followProjects({ bus, database, intervalMs, warn, logError });
  measureDeadLetters(metrics, 'gateway', database);
  atStop('projection of projects', () => projects.stop());
  const hidings = projectHidings(database);
  const stale = startRemovingStaleHidings({ hidings, projects, warn });
  atStop('removal of stale hidings', () => stale.stop());
  const settle = refreshRightsAfter({
    projects,
    invalidateCache: forget,
    waitMs: config.GATEWAY_PROJECTS_WAIT_TIMEOUT_MS,
  });
  const { catchUp: awaitProjects, applied } = projects;
  // Who has never heard of projects would show private ones to everybody. Later on, features may be away.
  let knowsProjects = applied > 0;
  let hasFirstTokens = false;
  const ready = async () => {
    if (draining.aborted) throw new Error('The gateway is stopping.');
    bus.ready();
    limits.requireCapacity();
    if (!hasFirstTokens) throw new Error('The gateway is starting: the tokens of its settings are not stored yet.');
    await database.ping();
    knowsProjects ||= (await awaitProjects(firstProjectsMs)) === 0;
    if (!knowsProjects) throw new Error('Which projects are private is not known yet: is the features service there?');
  };

  const { app, close } = createHttpServer({ config, log, metrics, admit, limits, draining });
  // What the gateway answers itself does not wait for the bus: a key can be taken away also while NATS is gone.
  const near = inProcessBus();
  for (const operation of operations) {
    const isOwn = serviceOf(operation) === 'gateway';
    mountOperation(app, operation, {
      bus: isOwn ? near : bus,
      admit,
      limits,
      authenticate,
      refreshRights: settle,
      config,
    });
  }
  mountHealth(app, ready);
  // Where operators have a port of their own, what they measure is not for those who reach the API.
  if (operationsPort === 0) mountMetrics(app, metrics, anonymousRateLimit(config));
  mountDocs(app, openApiDocument(operations), anonymousRateLimit(config));
  const work = unitOfWork(telling, hasher, cipher);
  const catchUp = () => awaitProjects(config.GATEWAY_PROJECTS_WAIT_TIMEOUT_MS);
  const [access, heardOf] = [accessReader(database), knownProjectsReader(database)];
  const answers = gatewayEndpoints({
    bus,
    transaction: work,
    accessReader: access,
    catalogue: projectCatalogue(bus, heardOf, catchUp),
    hidings,
    invalidateTokenCache: forget,
    instance: {
      version,
      publicUrl: config.GATEWAY_PUBLIC_URL,
      frontendOrigins: splitOrigins(config.GATEWAY_FRONTEND_CORS_ORIGINS),
      id: () => instanceId(database),
    },
    countAccounts: accountCounter(database),
  });
  for (const served of await Promise.all([
    serve(completeEndpoints('gateway', [...answers, telling.endpoint, readDeadLettersEndpoint('gateway', database)])),
    serve(answers, near),
  ]))
    atStop('calls', () => served.stop(), drainTimeoutMs);
  atStop('HTTP server', close, httpStopTimeoutMs(config));
  const address = await listen(app, config.GATEWAY_HOST, config.PORT);
  // Only now: a start that fails must not make a token that nobody ever sees.
  const firstAdminToken = await ensureInitialTokens(telling.work, { hasher, cipher }, given, warn);
  hasFirstTokens = true;
  return { ready, address, ...(firstAdminToken === undefined ? {} : { firstAdminToken }) };
};

/** The door of the platform: it knows who asks, what that one may do, and which service answers. */
export const gatewayService = { name: 'gateway', config: GatewayConfig, start } as const satisfies AnyService;
