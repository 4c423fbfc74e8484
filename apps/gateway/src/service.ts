import { requireAllEndpoints, inProcessBus } from '@bunting/bus';
import { httpOperations, isCalledByServices, serviceOf, unavailable } from '@bunting/contracts';
import { type Database, migrateDatabase, openDatabase } from '@bunting/database';
import { readDeadLettersEndpoint, startOutboxProducer } from '@bunting/outbox';
import {
  buntingVersion,
  defineService,
  drainTimeoutMs,
  type RunningService,
  type ServiceContext,
} from '@bunting/runtime';
import {
  anonymousRateLimit,
  createHttpServer,
  httpStopTimeoutMs,
  listen,
  mountHealth,
  mountMetrics,
  requireAvailableAddress,
  splitCommaSeparated,
} from '@bunting/http';
import { refreshRightsAfterWrite } from './admission/authorisation.ts';
import { listenForAccessChanges } from './access/rights/background.ts';
import { startAuthentication } from './authentication.ts';
import { ensureFirstCredentials, configuredAdmin } from './access/sign-in/first-admin.ts';
import { startProjectVisibility } from './access/rights/subscriptions.ts';
import { basePathOf, takeBasePath } from './http/base-path.ts';
import { gatewayReadiness } from './http/health.ts';
import { builtConsoleFolder, isUnknownPath, mountConsole } from './http/console.ts';
import { mountOperation } from './http/mount-operation.ts';
import { contextOutsideOperations } from './http/request-context.ts';
import { oidcLoginCookie, mountOidc } from './access/oidc/mount-oidc.ts';
import { logoutDestination } from './access/oidc/openid-provider.ts';
import { mountDocs } from './http/openapi/docs.ts';
import { openApiDocument } from './http/openapi/openapi-document.ts';
import { mountScim } from './access/scim/mount-scim.ts';
import { mountLogout } from './access/sessions/browser-session.ts';
import { currentRevisions, startSdkDelivery } from './delivery/delivery.ts';
import { GatewayConfig } from './config.ts';
import { configuredTokens } from './access/tokens/initial-tokens.ts';
import { configuredMailer } from './access/passwords/password-links.ts';
import { gatewayEndpoints } from './access/endpoints.ts';
import { projectAndEnvironmentDirectory } from './access/rights/directory.ts';
import { loginLimits, signInLog } from './access/sign-in/sign-in-log.ts';
import { passwordHasher } from './access/passwords/password-hasher.ts';
import { gatewayEntities } from './unit-of-work/entities.ts';
import { inviteLinkSecrets } from './access/invite-links/invite-link.ts';
import { gatewayMigrations } from './migrations/index.ts';
import { existingProjectsReader } from './access/rights/project-store.ts';
import { configuredTokenCipher } from './unit-of-work/secrets.ts';
import { unitOfWork } from './unit-of-work/unit-of-work.ts';
import { wakeUps } from './delivery/streams/ndjson.ts';

export interface RunningGateway extends RunningService {
  /** the generated admin token, at the first start only */
  readonly firstAdminToken?: string;
  /** the URL at which the first administrator is created, once and within an hour; only while no user exists */
  readonly firstAdminLink?: string;
}

function openGatewayDatabase({ config, log, metrics }: ServiceContext<typeof GatewayConfig>): Promise<Database> {
  return openDatabase({
    url: config.GATEWAY_DATABASE_URL,
    name: 'gateway',
    migrations: gatewayMigrations,
    entities: gatewayEntities,
    poolMax: config.GATEWAY_DATABASE_POOL_MAX,
    statementTimeoutMs: config.GATEWAY_STATEMENT_TIMEOUT_MS,
    metrics,
    log,
  });
}

function startGatewayOutbox({ config, bus, log, metrics }: ServiceContext<typeof GatewayConfig>, database: Database) {
  return startOutboxProducer({
    producer: 'gateway',
    metrics,
    database,
    bus,
    intervalMs: config.GATEWAY_RELAY_POLL_INTERVAL_MS,
    retentionHours: config.GATEWAY_OUTBOX_RETENTION_HOURS,
    idempotencyRetentionHours: config.GATEWAY_IDEMPOTENCY_RETENTION_HOURS,
    log,
  });
}

async function start(context: ServiceContext<typeof GatewayConfig>): Promise<RunningGateway> {
  const { config, bus, log, metrics, serve, onStop, draining, monitoringPort } = context;
  const warn = (message: string) => log.warn(message);
  // Faults of the settings are found before anything has started.
  const tokens = configuredTokens(config);
  const admin = configuredAdmin(config);
  const mailer = await configuredMailer(config, warn);
  const cipher = configuredTokenCipher(config);
  const basePath = basePathOf(config);
  const prepare = takeBasePath(basePath);
  await requireAvailableAddress(config.GATEWAY_HOST, config.PORT);
  const database = await openGatewayDatabase(context);
  onStop('database', () => database.close());
  onStop('mail', async () => mailer?.close());
  const outboxProducer = startGatewayOutbox(context, database);
  onStop('outbox', () => outboxProducer.stop());
  // Filled in at the end of this function. Requests and calls may arrive before that.
  const startState = { listeningAt: '', hasFirstTokens: false };
  const authentication = await startAuthentication(context, database, cipher, () => {
    if (!startState.hasFirstTokens)
      throw unavailable('Bunting is starting: the credentials of its settings are not stored yet. Please try again.');
  });
  const { hasher, cookie, sessionLimits, identify, limits, reads, signInSettings, scimSetting } = authentication;
  const { projects, pendingPrivateProjects } = await startProjectVisibility(context, database);
  const sdkDelivery = await startSdkDelivery(context, authentication);
  const { delivery, streams } = sdkDelivery;
  const eventWakeUps = wakeUps();
  for (const producer of ['features', 'change-requests', 'gateway', 'integrations']) {
    const subscription = await bus.subscribe({ producer, topic: 'event' }, eventWakeUps.wake);
    onStop(`wake-ups of ${producer}`, () => subscription.stop());
  }
  const onAccessChange = (table?: string) => {
    authentication.invalidateCache(table === undefined || table === 'api_token');
    scimSetting.invalidate();
    streams.checkTokens();
    eventWakeUps.wake();
  };
  const accessListener = listenForAccessChanges({ database, onChange: onAccessChange, metrics, log });
  onStop('revocations', () => accessListener.stop());

  const pageUrl = (path: string): string =>
    `${(config.GATEWAY_PUBLIC_URL || startState.listeningAt).replace(/\/+$/, '')}${path}`;
  const parts = { database, limits, projects, delivery, hasFirstTokens: () => startState.hasFirstTokens };
  const ready = gatewayReadiness(context, parts);
  const { app, close } = createHttpServer({
    ...authentication,
    ...sdkDelivery,
    config,
    log,
    metrics,
    draining,
    isUnknownPath,
    ...(prepare !== undefined && { prepare }),
  });
  // The gateway's own operations are called in process, so that a token can be revoked while NATS is down.
  const ownBus = inProcessBus();
  const transaction = unitOfWork(outboxProducer, { hasher, cipher, sessionLimits });
  const signIns = signInLog(log);
  const waitMs = config.GATEWAY_PROJECTS_WAIT_TIMEOUT_MS;
  const refreshRights = refreshRightsAfterWrite({ projects, invalidateCache: () => onAccessChange(), waitMs });
  const mountOptions = { ...authentication, ...sdkDelivery, config, refreshRights, eventWakeUps };
  for (const operation of httpOperations)
    mountOperation(app, operation, { ...mountOptions, bus: serviceOf(operation) === 'gateway' ? ownBus : bus });
  mountHealth(app, ready);
  // Where operators have a port of their own (GATEWAY_OPS_PORT), metrics are served there, and not on the public port.
  if (monitoringPort === 0) mountMetrics(app, metrics, anonymousRateLimit(config));
  mountDocs(app, openApiDocument(httpOperations), { basePath, limit: anonymousRateLimit(config) });
  mountConsole(app, {
    folder: config.GATEWAY_CONSOLE_DIR ?? builtConsoleFolder,
    basePath,
    inform: (message) => log.info(message),
  });
  mountLogout(app, {
    ...authentication,
    basePath,
    end: async (request, caller, sessionId) => {
      const writeContext = contextOutsideOperations(request, caller, config.GATEWAY_CALL_TIMEOUT_MS);
      await transaction(writeContext, ({ sessions }) => sessions.end(caller.id, sessionId));
      onAccessChange('user_session');
      signIns.signedOut(caller.id);
    },
    destination: logoutDestination(authentication.findProvider, config),
    rateLimit: anonymousRateLimit(config),
  });
  mountScim(app, { ...authentication, config, readSetting: scimSetting.read, transaction });
  mountOidc(app, {
    config,
    findProvider: authentication.findProvider,
    transaction,
    loginCookie: oidcLoginCookie(hasher, config),
    sessionCookie: cookie,
    signInLog: signIns,
    log,
    rateLimit: anonymousRateLimit(config),
  });
  const passwords = passwordHasher(config.GATEWAY_PASSWORD_COST);
  const catchUp = () => projects.catchUp(waitMs);
  const endpoints = gatewayEndpoints({
    bus,
    identify,
    transaction,
    reads,
    signIn: { cookie, passwords, limits: loginLimits(config), log: signIns },
    inviteSecrets: inviteLinkSecrets(hasher),
    mailer,
    projectAndEnvironmentDirectory: projectAndEnvironmentDirectory(bus, existingProjectsReader(database), catchUp),
    pendingPrivateProjects,
    invalidateRights: () => onAccessChange('project'),
    currentRevisionOf: (existing) => currentRevisions(delivery, existing),
    instance: {
      version: buntingVersion(),
      publicUrl: config.GATEWAY_PUBLIC_URL,
      pageUrl,
      frontendOrigins: splitCommaSeparated(config.GATEWAY_FRONTEND_CORS_ORIGINS),
      maxImportBytes: config.GATEWAY_MAX_LARGE_BODY_BYTES,
    },
    signInSettings,
  });
  const allEndpoints = requireAllEndpoints('gateway', [
    ...endpoints,
    outboxProducer.endpoint,
    readDeadLettersEndpoint('gateway', database),
  ]);
  for (const served of await Promise.all([
    // No message creates a token or a user: the other operations have no subject on NATS.
    serve(allEndpoints.filter(({ operation }) => isCalledByServices(operation))),
    serve(endpoints, ownBus),
  ]))
    onStop('calls', () => served.stop(), drainTimeoutMs);
  onStop('HTTP server', close, httpStopTimeoutMs(config));
  startState.listeningAt = await listen(app, config.GATEWAY_HOST, config.PORT);
  // Last: a start that fails must not create a token whose secret is never printed.
  const { adminToken, linkSecret } = await ensureFirstCredentials({
    transaction,
    reads,
    passwords,
    tokens,
    admin,
    warn,
    stopping: draining,
  });
  startState.hasFirstTokens = true;
  return {
    ready,
    checksBus: true,
    address: startState.listeningAt,
    ...(adminToken === undefined ? {} : { firstAdminToken: adminToken }),
    ...(linkSecret === undefined ? {} : { firstAdminLink: pageUrl(`/first?token=${linkSecret}`) }),
  };
}

/** The gateway: HTTP, authentication and authorisation, and the service that owns users, roles and tokens. */
export const gatewayService = defineService({
  name: 'gateway',
  config: GatewayConfig,
  settingPrefixes: ['INIT_', 'OIDC_', 'SMTP_'],
  migrate: (config) =>
    migrateDatabase({ url: config.GATEWAY_DATABASE_URL, name: 'gateway', migrations: gatewayMigrations }),
  start,
});
