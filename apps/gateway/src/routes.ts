import type { Bus } from '@bunting/bus';
import { httpOperations, serviceOf } from '@bunting/contracts';
import type { ServiceContext } from '@bunting/runtime';
import type { FastifyInstance } from 'fastify';
import { anonymousRateLimit } from './admission/admission.ts';
import type { GatewayConfig } from './config.ts';
import { builtConsoleFolder, mountConsole } from './http/console.ts';
import { mountOperation, type MountOptions } from './http/mount-operation.ts';
import type { TransactionContext, UnitOfWork } from './unit-of-work/unit-of-work.ts';
import { contextOutsideOperations } from './http/request/head.ts';
import { oidcLoginCookie, mountOidc } from './access/oidc/mount-oidc.ts';
import { logoutDestination } from './access/oidc/openid-provider.ts';
import { mountHealth, mountMetrics } from './http/health.ts';
import { mountDocs } from './http/openapi/docs.ts';
import { openApiDocument } from './http/openapi/openapi-document.ts';
import { mountScim } from './access/scim/mount-scim.ts';
import { mountLogout } from './access/sessions/browser-session.ts';
import type { SignInLog } from './access/sign-in/sign-in-log.ts';
import type { Authentication } from './authentication.ts';
import type { SdkDelivery } from './delivery/delivery.ts';

interface RouteParts {
  readonly authentication: Authentication;
  readonly sdkDelivery: SdkDelivery;
  /** calls the gateway's own operations */
  readonly ownBus: Bus;
  readonly refreshRights: MountOptions['refreshRights'];
  readonly eventWakeUps: MountOptions['eventWakeUps'];
  /** ends a session of the caller of the context */
  readonly endSession: (context: TransactionContext, sessionId: string) => Promise<void>;
  readonly ready: Parameters<typeof mountHealth>[1];
  readonly signInLog: SignInLog;
  readonly transaction: UnitOfWork;
}

/** Mounts everything that the gateway serves: the operations, the pages of operators and users, SCIM and OpenID Connect. */
export const mountRoutes = (
  app: FastifyInstance,
  { config, bus, log, metrics, monitoringPort }: ServiceContext<typeof GatewayConfig>,
  {
    authentication,
    sdkDelivery,
    ownBus,
    refreshRights,
    eventWakeUps,
    endSession,
    ready,
    signInLog,
    transaction,
  }: RouteParts,
): void => {
  const { hasher, cookie, sameOrigin, authenticate, limits, reads, findProvider, scimSetting, admit, admitPublic } =
    authentication;
  const { sdkHandlers, openStreams } = sdkDelivery;
  for (const operation of httpOperations) {
    const isOwn = serviceOf(operation) === 'gateway';
    mountOperation(app, operation, {
      bus: isOwn ? ownBus : bus,
      admit,
      admitPublic,
      limits,
      authenticate,
      refreshRights,
      eventWakeUps,
      config,
      sdkHandlers,
      openStreams,
    });
  }
  mountHealth(app, ready);
  // Where operators have a port of their own (GATEWAY_OPS_PORT), metrics are served there, and not on the public port.
  if (monitoringPort === 0) mountMetrics(app, metrics, anonymousRateLimit(config));
  mountDocs(app, openApiDocument(httpOperations), anonymousRateLimit(config));
  mountConsole(app, {
    folder: config.GATEWAY_CONSOLE_DIR ?? builtConsoleFolder,
    inform: (message) => log.info(message),
  });
  mountLogout(app, {
    authenticate,
    cookie,
    sameOrigin,
    end: (request, caller, sessionId) =>
      endSession(contextOutsideOperations(request, caller, config.GATEWAY_CALL_TIMEOUT_MS), sessionId),
    destination: logoutDestination(findProvider, config),
    rateLimit: anonymousRateLimit(config),
  });
  mountScim(app, { config, readSetting: scimSetting.read, hasher, limits, transaction, reads });
  mountOidc(app, {
    config,
    findProvider,
    transaction,
    loginCookie: oidcLoginCookie(hasher, config),
    sessionCookie: cookie,
    signInLog,
    log,
    rateLimit: anonymousRateLimit(config),
  });
};
