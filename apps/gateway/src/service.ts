import { completeEndpoints, inProcessBus } from '@bunting/bus';
import { operations, serviceOf, StreamClientFeatures } from '@bunting/contracts';
import { awaitRightsAfter } from './authorisation/await-rights.ts';
import { migrateDatabase, openDatabase } from '@bunting/database';
import { measureDeadLetters, readDeadLettersEndpoint, startOutboxProducer } from '@bunting/outbox';
import { type AnyService, drainTimeoutMs, type RunningService, type ServiceContext, startLoop } from '@bunting/runtime';
import { admission, anonymousRateLimit, publicAdmission } from './admission/admit.ts';
import { configuredTokens } from './domain/tokens/configured-tokens.ts';
import { authenticator } from './authentication/authenticate.ts';
import { GatewayConfig } from './config.ts';
import { builtConsoleFolder, mountConsole } from './console/console-pages.ts';
import { clientHandlers } from './delivery/client/client-handlers.ts';
import { clientStream } from './delivery/client/client-stream.ts';
import { fetchModePolicy } from './delivery/client/fetch-mode.ts';
import { frontendHandlers } from './delivery/frontend/frontend-handlers.ts';
import { preRoutingPollResponses } from './delivery/client/pre-routing-poll-responses.ts';
import { startDelivery } from './delivery/delivery.ts';
import { ofrepHandlers } from './delivery/ofrep/ofrep-handlers.ts';
import { streamTickets } from './delivery/ofrep/stream-tickets.ts';
import { splitOrigins } from './http/cors.ts';
import { mountDocs } from './openapi/docs-page.ts';
import { mountHealth } from './monitoring/health.ts';
import { mountMetrics } from './monitoring/metrics-page.ts';
import { gatewayReadiness } from './monitoring/readiness.ts';
import { streamMetrics } from './monitoring/stream-metrics.ts';
import { loginCookie } from './identity/login-cookie.ts';
import { logoutDestination } from './identity/logout-destination.ts';
import { mountScim } from './scim/mount-scim.ts';
import { mountOidc } from './identity/mount-oidc.ts';
import { signInSettings } from './identity/sign-in-settings.ts';
import { mountOperation } from './http/mount-operation.ts';
import { openApiDocument, version } from './openapi/document.ts';
import { configuredMailer } from './mail/mailer.ts';
import { configuredAdmin, ensureFirstAdmin } from './passwords/first-admin.ts';
import { inviteLinkSecrets } from './persistence/links/invite-link-secrets.ts';
import { gatewayReads } from './persistence/reads.ts';
import { loginLimits } from './passwords/login-limits.ts';
import { passwordHasher } from './passwords/password-hasher.ts';
import { sessionLookup } from './persistence/sessions/session-lookup.ts';
import { sessionRepository } from './persistence/sessions/session-repository.ts';
import { mountLogout } from './sessions/mount-logout.ts';
import { sameOriginPolicy } from './sessions/same-origin.ts';
import { sessionCookie } from './sessions/session-cookie.ts';
import { signInForm } from './sessions/sign-in-form.ts';
import { signInLog } from './sessions/sign-in-log.ts';
import { gatewayEndpoints } from './operations/index.ts';
import { projectDirectory } from './operations/project-directory.ts';
import { listenForAccessChanges } from './persistence/rights/access-change-listener.ts';
import { ensureInitialTokens } from './persistence/tokens/initial-tokens.ts';
import { lastSeenRecorder } from './persistence/tokens/last-seen-recorder.ts';
import { gatewayEntities } from './persistence/entities.ts';
import { gatewayMigrations } from './persistence/migrations/index.ts';
import { configuredCipher } from './persistence/tokens/token-cipher.ts';
import { openTokenHasher } from './persistence/tokens/token-hasher.ts';
import { unitOfWork } from './persistence/unit-of-work.ts';
import { existingProjectsReader } from './persistence/projects/existing-projects.ts';
import { eraseSealedSecrets } from './persistence/tokens/token-repository.ts';
import { tokenLookup } from './persistence/tokens/token-lookup.ts';
import { requestLimits } from './admission/concurrent-request-limits.ts';
import { unreadResponses } from './admission/unread-responses.ts';
import { deliveryStreams } from './streaming/delivery-streams.ts';
import { createHttpServer, httpStopTimeoutMs, listen, requireAvailableAddress } from './http/server.ts';
import { startUnhidingUnconfirmedProjects } from './subscriptions/unhide-unconfirmed-projects.ts';
import { pendingPrivateProjectStore } from './persistence/projects/pending-private-projects.ts';
import { consumeProjectStates } from './subscriptions/consume-project-states.ts';

export interface RunningGateway extends RunningService {
  /** the generated admin token, at the first start only */
  readonly firstAdminToken?: string;
  /** the address by which the first administrator is created, once and within an hour; while there is no user */
  readonly firstAdminLink?: string;
}

/** Maximum milliseconds that one readiness check waits for the first state of projects. */
const firstProjectsMs = 1_000;

const start = async ({
  config,
  bus,
  log,
  metrics,
  serve,
  onStop,
  draining,
  requireCompatible,
  drainDelayMs,
  monitoringPort,
}: ServiceContext<typeof GatewayConfig>): Promise<RunningGateway> => {
  const warn = (message: string) => log.warn(message);
  const tokensOfSettings = configuredTokens(config);
  const admin = configuredAdmin(config);
  const mailer = configuredMailer(config, warn);
  const cipher = configuredCipher(config);
  await requireAvailableAddress(config.GATEWAY_HOST, config.PORT);
  const database = await openDatabase({
    url: config.GATEWAY_DATABASE_URL,
    name: 'gateway',
    migrations: gatewayMigrations,
    entities: gatewayEntities,
    poolMax: config.GATEWAY_DATABASE_POOL_MAX,
    statementTimeoutMs: config.GATEWAY_STATEMENT_TIMEOUT_MS,
    metrics,
    warn,
    logError: (message) => log.error(message),
  });
  onStop('database', () => database.close());
  onStop('mail', async () => mailer?.close());
  const outboxProducer = startOutboxProducer({
    producer: 'gateway',
    metrics,
    database,
    bus,
    intervalMs: config.GATEWAY_RELAY_POLL_INTERVAL_MS,
    retentionHours: config.GATEWAY_OUTBOX_RETENTION_HOURS,
    idempotencyRetentionHours: config.GATEWAY_IDEMPOTENCY_RETENTION_HOURS,
    warn,
  });
  onStop('outbox', () => outboxProducer.stop());
  const lastUses = lastSeenRecorder(database);
  const storingLastUses = startLoop({
    name: 'The storing of when tokens were last used',
    intervalMs: config.GATEWAY_LAST_SEEN_FLUSH_INTERVAL_MS,
    run: lastUses.store,
    warn,
  });
  onStop('last uses of tokens', async () => {
    await storingLastUses.stop();
    await lastUses.store().catch(() => undefined);
  });
  const hasher = await openTokenHasher(database, config.GATEWAY_TOKEN_KEY);
  if (cipher === undefined) {
    const erased = await eraseSealedSecrets(database);
    if (erased > 0) {
      warn(
        `The gateway erased the encrypted secrets of ${erased} SDK tokens because GATEWAY_READABLE_SDK_TOKENS is off. The tokens stay valid; create others where their secrets have to be listed.`,
      );
    }
  }
  const cookie = sessionCookie(config);
  const { authenticate, authenticateFromCache, identify, identifyById, invalidateCache } = authenticator({
    tokens: tokenLookup(database),
    hasher,
    sessions: sessionLookup(database, hasher, config),
    cookie,
    cacheTtlMs: config.GATEWAY_TOKEN_CACHE_TTL_MS,
    onUse: lastUses.record,
  });
  const limits = requestLimits(config);
  const reads = gatewayReads(database, hasher, cipher, config);
  const identitySettings = signInSettings({ config, read: reads.settings.find, hasher, warn });
  const sameOrigin = sameOriginPolicy(config);
  const { admit, admitFromCache } = admission({
    authenticate,
    sameOrigin,
    signInForm: signInForm(identitySettings),
    limits,
    log,
    config,
  });
  const admitPublic = publicAdmission({ limits, sameOrigin, config });
  const logError = (message: string) => log.error(message);
  const intervalMs = config.GATEWAY_PROJECTS_POLL_INTERVAL_MS;
  const projects = await consumeProjectStates({ bus, database, intervalMs, metrics, warn, logError });
  measureDeadLetters(metrics, 'gateway', database);
  onStop('projection of projects', () => projects.stop());
  const pendingPrivateProjects = pendingPrivateProjectStore(database);
  const unhiding = startUnhidingUnconfirmedProjects({ pendingPrivateProjects, projects, warn });
  onStop('unhiding of unconfirmed projects', () => unhiding.stop());
  const delivery = await startDelivery({ bus, config, metrics, warn });
  onStop('delivery to SDKs', () => delivery.stop());
  const unread = unreadResponses(config);
  const measuredStreams = streamMetrics(metrics);
  measuredStreams.open.set({ kind: 'events' }, 0);
  const streams = deliveryStreams({
    delivery,
    config,
    limits,
    unread,
    measured: measuredStreams,
    draining,
    drainDelayMs,
  });
  const accessChanged = (table?: string) => {
    invalidateCache(table === undefined || table === 'api_token');
    identitySettings.invalidate();
    streams.checkTokens();
  };
  const changes = listenForAccessChanges(database, accessChanged);
  onStop('revocations', () => changes.stop());
  // Derived from the key of tokens, which all gateways share.
  const tickets = streamTickets(hasher('the key of stream tickets').hash);
  const fetchMode = fetchModePolicy(config);
  const sdkHandlers = new Map([
    ...clientHandlers(delivery, fetchMode.directToStream),
    ...frontendHandlers(delivery),
    ...ofrepHandlers({ delivery, streams, tickets, identifyById }),
    [StreamClientFeatures.subject, clientStream({ delivery, streams, authenticate, fetchMode })],
  ]);
  const awaitRights = awaitRightsAfter({
    projects,
    invalidateCache: () => accessChanged(),
    waitMs: config.GATEWAY_PROJECTS_WAIT_TIMEOUT_MS,
  });
  const { catchUp: awaitProjects, applied } = projects;
  // Without the states of projects, private ones would be visible. Once they are applied, the features service may be away.
  let knowsProjects = applied > 0;
  let hasFirstTokens = false;
  const ready = gatewayReadiness({
    bus,
    readSchema: database.schema,
    metrics,
    requireAccepting: async () => {
      if (draining.aborted) throw new Error('The gateway is stopping: send requests to another one.');
      await requireCompatible();
      limits.requireCapacity();
      if (!hasFirstTokens) throw new Error('The gateway is starting: the tokens of its settings are not stored yet.');
    },
    requireLoaded: async () => {
      knowsProjects ||= (await awaitProjects(firstProjectsMs)) === 0;
      if (!knowsProjects) throw new Error('Project visibility is not loaded yet. Is the features service running?');
      if (!delivery.isLoaded) await delivery.catchUp();
      if (!delivery.isLoaded) throw new Error('The features are not loaded yet. Is the features service running?');
    },
  });

  const { app, close } = createHttpServer({
    config,
    log,
    metrics,
    admit,
    limits,
    unread,
    draining,
    respondBeforeRouting: preRoutingPollResponses({
      delivery,
      authenticateFromCache,
      admitFromCache,
      directToStream: fetchMode.directToStream,
    }),
  });
  // The gateway's own operations are called in process, so that a token can be revoked while NATS is down.
  const ownBus = inProcessBus();
  for (const operation of operations) {
    const isOwn = serviceOf(operation) === 'gateway';
    mountOperation(app, operation, {
      bus: isOwn ? ownBus : bus,
      admit,
      admitPublic,
      limits,
      authenticate,
      awaitRights,
      config,
      sdkHandlers,
      openStreams: measuredStreams.open,
    });
  }
  mountHealth(app, ready);
  // With a port of their own for operations, metrics are not served on the public port.
  if (monitoringPort === 0) mountMetrics(app, metrics, anonymousRateLimit(config));
  mountDocs(app, openApiDocument(operations), anonymousRateLimit(config));
  mountConsole(app, {
    folder: config.GATEWAY_CONSOLE_DIR ?? builtConsoleFolder,
    inform: (message) => log.info(message),
  });
  const signedIn = signInLog(log);
  mountLogout(app, {
    authenticate,
    cookie,
    end: async (userId, sessionId) => {
      await database.transaction((tx) => sessionRepository(tx, hasher, config).end(userId, sessionId));
      accessChanged('user_session');
      signedIn.signedOut(userId);
    },
    destination: logoutDestination(identitySettings, config),
    rateLimit: anonymousRateLimit(config),
  });
  const passwords = passwordHasher(config.GATEWAY_PASSWORD_COST);
  let listeningAt = '';
  const pageUrl = (path: string): string => `${(config.GATEWAY_PUBLIC_URL || listeningAt).replace(/\/+$/, '')}${path}`;
  const transaction = unitOfWork(outboxProducer, hasher, cipher, config);
  mountScim(app, { config, readSetting: identitySettings.readScim, hasher, limits, transaction, reads });
  mountOidc(app, {
    config,
    settings: identitySettings,
    transaction,
    loginCookie: loginCookie(hasher, config),
    sessionCookie: cookie,
    signInLog: signedIn,
    log,
    rateLimit: anonymousRateLimit(config),
  });
  const catchUp = () => awaitProjects(config.GATEWAY_PROJECTS_WAIT_TIMEOUT_MS);
  const endpoints = gatewayEndpoints({
    bus,
    identify,
    transaction,
    reads,
    signIn: {
      cookie,
      passwords,
      limits: loginLimits(config),
      log: signedIn,
    },
    inviteSecrets: inviteLinkSecrets(hasher),
    mailer,
    projectDirectory: projectDirectory(bus, existingProjectsReader(database), catchUp),
    pendingPrivateProjects,
    invalidateTokenCache: () => accessChanged('project'),
    instance: {
      version,
      publicUrl: config.GATEWAY_PUBLIC_URL,
      pageUrl,
      frontendOrigins: splitOrigins(config.GATEWAY_FRONTEND_CORS_ORIGINS),
    },
    signInSettings: identitySettings,
  });
  for (const served of await Promise.all([
    serve(
      completeEndpoints('gateway', [
        ...endpoints,
        outboxProducer.endpoint,
        readDeadLettersEndpoint('gateway', database),
      ]),
    ),
    serve(endpoints, ownBus),
  ]))
    onStop('calls', () => served.stop(), drainTimeoutMs);
  onStop('HTTP server', close, httpStopTimeoutMs(config));
  const address = await listen(app, config.GATEWAY_HOST, config.PORT);
  listeningAt = address;
  // Last: a start that fails must not create a token whose secret is never printed.
  const firstAdminToken = await ensureInitialTokens(outboxProducer.work, { hasher, cipher }, tokensOfSettings, warn);
  // With an admin token in the settings, that token creates the first users.
  const givesToken =
    tokensOfSettings.adminToken !== undefined || tokensOfSettings.initial.some(({ kind }) => kind === 'admin');
  const { work } = outboxProducer;
  const link = await ensureFirstAdmin({ work, hasher, passwords, configured: admin, wantsLink: !givesToken });
  hasFirstTokens = true;
  return {
    ready,
    checksBus: true,
    address,
    ...(firstAdminToken === undefined ? {} : { firstAdminToken }),
    ...(link === undefined ? {} : { firstAdminLink: pageUrl(`/first?token=${link}`) }),
  };
};

/** The gateway: HTTP, authentication and authorisation, and the service that owns users, roles and tokens. */
export const gatewayService = {
  name: 'gateway',
  config: GatewayConfig,
  settingPrefixes: ['INIT_', 'OIDC_', 'SMTP_'],
  migrate: (config: GatewayConfig) =>
    migrateDatabase({ url: config.GATEWAY_DATABASE_URL, name: 'gateway', migrations: gatewayMigrations }),
  start,
} as const satisfies AnyService;
