import {
  type AnyOperation,
  type BulkMetricsBody,
  type EdgeInstanceBody,
  EvaluateFlag,
  EvaluateFlags,
  EvaluateFrontendFeatures,
  GetClientDelta,
  GetClientFeature,
  GetClientFeatures,
  GetClientSegmentBlocks,
  GetFrontendFeatures,
  isPublicOperation,
  type MetricsBody,
  permissionsFor,
  refusal,
  RegisterApplication,
  type RegisterApplicationBody,
  RegisterFrontendApplication,
  ReportEdgeInstance,
  ReportFrontendMetrics,
  ReportMetrics,
  ReportProxiedMetrics,
  StreamClientFeatures,
  StreamFlagChanges,
  tokensValidatedAtOnce,
  ValidateEdgeTokens,
} from '@bunting/contracts';
import type { streamTickets } from '@bunting/delivery';
import {
  type Admit,
  clientNetwork,
  closeAfterEarlyResponse,
  type ConcurrentRequestLimits,
  jsonContentType,
  operationRequestReader,
  type ParsedOperationRequest,
  type Principal,
  requirePermission,
} from '@bunting/http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServerSettings } from '../config.ts';
import type { EdgeReports } from '../reporting/edge-report.ts';
import type { Reports } from '../reporting/reports.ts';
import { bulkMetricsAsReports } from './bulk-metrics.ts';
import type { EdgeScopes } from './scopes.ts';
import type { EdgeToken } from './token.ts';
import type { EdgeTokens } from './tokens.ts';

export interface MountOptions {
  readonly config: ServerSettings;
  readonly admit: Admit;
  readonly admitPublic: Admit;
  readonly limits: ConcurrentRequestLimits;
  readonly scopes: EdgeScopes;
  readonly tokens: EdgeTokens;
  readonly tickets: ReturnType<typeof streamTickets>;
  /** undefined where there is no origin, so that usage is taken and dropped */
  readonly reports: Pick<Reports, 'addMetrics' | 'addRegistration'> | undefined;
  readonly edgeReports: Pick<EdgeReports, 'addConnected'> | undefined;
}

type Respond = (
  request: FastifyRequest,
  reply: FastifyReply,
  principal: Principal,
  parsed: ParsedOperationRequest,
) => FastifyReply | Promise<FastifyReply>;

/** Adds the route of an operation, whose requests are checked in the order in which gateways check them. */
function mount(app: FastifyInstance, operation: AnyOperation, options: MountOptions, respond: Respond): void {
  const { http } = operation;
  if (http === undefined) throw new Error(`${operation.subject} has no HTTP binding.`);
  const permissions = permissionsFor(operation);
  const admit = isPublicOperation(operation) ? options.admitPublic : options.admit;
  const readRequest = operationRequestReader(operation, http, options);
  app.route({
    method: http.method,
    url: http.url,
    config: { isOperation: true },
    handler: async (request, reply) => {
      const principal = await admit(request, reply);
      request.exchange.callerId = principal.caller.id;
      if (permissions.length > 0) requirePermission(principal.caller, permissions, {});
      const parsed = await readRequest(request, reply);
      closeAfterEarlyResponse(reply);
      return respond(request, reply, principal, parsed);
    },
  });
}

const servedFromMemory = [
  GetClientFeatures,
  GetClientFeature,
  GetClientDelta,
  GetClientSegmentBlocks,
  StreamClientFeatures,
  GetFrontendFeatures,
  EvaluateFrontendFeatures,
  EvaluateFlag,
  EvaluateFlags,
];

/** Paths of Unleash Edge that gateways do not have: with the features that are off as well, and with one feature. */
const furtherPaths = [
  { evaluates: 'all', url: '/api/frontend/all' },
  { evaluates: 'one', url: '/api/frontend/features/:featureName', params: GetClientFeature.params },
] as const;

function invalidTicket() {
  return refusal(
    'AuthenticationRequired',
    'The ticket is not valid, or has expired. Evaluate the features to get another one.',
  );
}

function mountDelivery(app: FastifyInstance, options: MountOptions): void {
  const { scopes, tokens, tickets } = options;
  for (const operation of servedFromMemory) {
    mount(app, operation, options, (request, reply, principal, parsed) => {
      const handle = scopes.require(principal).handlers.get(operation.subject);
      if (handle === undefined) throw new Error(`${operation.subject} has no handler.`);
      return handle(request, reply, { caller: principal.caller, ...withoutTags(parsed) });
    });
  }
  for (const operation of [GetFrontendFeatures, EvaluateFrontendFeatures]) {
    for (const { evaluates, url, ...path } of furtherPaths) {
      if (evaluates === 'all' && options.config.DISABLE_ALL_ENDPOINT) continue;
      const { http, subject } = operation;
      mount(
        app,
        { ...operation, ...path, http: { ...http, url } } as AnyOperation,
        options,
        (request, reply, principal, parsed) => {
          const handle = scopes.require(principal).frontend[evaluates].get(subject);
          if (handle === undefined) throw new Error(`${subject} has no handler.`);
          return handle(request, reply, { caller: principal.caller, ...parsed });
        },
      );
    }
  }
  mount(app, StreamFlagChanges, options, (request, reply, { caller }, parsed) => {
    const ticket = tickets.read((parsed.query as { readonly ticket: string }).ticket);
    if (ticket === undefined) throw invalidTicket();
    const handle = scopes.require(tokens.identifyById(ticket.tokenId)).handlers.get(StreamFlagChanges.subject);
    if (handle === undefined) throw new Error(`${StreamFlagChanges.subject} has no handler.`);
    return handle(request, reply, { caller, ...parsed });
  });
}

/** A request without tags to choose features by: origins do not deliver them. A client then gets more features than it asks for. */
function withoutTags({ query, ...parsed }: ParsedOperationRequest): ParsedOperationRequest {
  const { tag: _, ...others } = (query ?? {}) as { readonly tag?: unknown };
  return { ...parsed, query: others };
}

function accepted(reply: FastifyReply, { http }: AnyOperation): FastifyReply {
  if (http?.contentType === undefined) return reply.code(http?.status ?? 200).send();
  return reply
    .code(http.status ?? 200)
    .header('content-type', `${http.contentType}; charset=utf-8`)
    .send('OK');
}

type ReportTo = NonNullable<MountOptions['reports']>;

function mountReports(app: FastifyInstance, options: MountOptions): void {
  const { reports, edgeReports, scopes } = options;
  const report = <B>(operation: AnyOperation, add: (to: ReportTo, token: string, body: B) => void) =>
    mount(app, operation, options, (_request, reply, principal, { body, query }) => {
      // Browsers say it in a header, for a body that does not.
      const { sdk: sdkVersion } = (query ?? {}) as { readonly sdk?: string };
      const { environment } = scopes.require(principal);
      const token = scopes.reportingTokenOf(principal);
      // The environment is that of the token: with the token of an edge, several applications share it.
      if (reports !== undefined && token !== undefined)
        add(reports, token, {
          ...(sdkVersion === undefined ? {} : { sdkVersion }),
          ...(body as B),
          environment,
        });
      return accepted(reply, operation);
    });
  for (const operation of [RegisterApplication, RegisterFrontendApplication])
    report<RegisterApplicationBody>(operation, (to, token, body) => to.addRegistration(token, body));
  for (const operation of [ReportMetrics, ReportFrontendMetrics])
    report<MetricsBody>(operation, (to, token, body) => to.addMetrics(token, body));
  report<BulkMetricsBody>(ReportProxiedMetrics, (to, token, body) => {
    const { registrations, metrics } = bulkMetricsAsReports(body);
    for (const registration of registrations) to.addRegistration(token, registration);
    for (const one of metrics) to.addMetrics(token, one);
  });
  mount(app, ReportEdgeInstance, options, (_request, reply, _principal, { body }) => {
    edgeReports?.addConnected(body as EdgeInstanceBody);
    return accepted(reply, ReportEdgeInstance);
  });
}

/** The answer to another edge, which follows this one: what is valid here. */
function mountValidation(app: FastifyInstance, options: MountOptions): void {
  const { tokens } = options;
  mount(app, ValidateEdgeTokens, options, async (request, reply, _principal, { body }) => {
    // Requests of this operation have a budget of their own.
    const asker = { address: clientNetwork(request.ip), requireBudget: () => undefined };
    const validOf = async (token: string): Promise<readonly EdgeToken[]> => {
      try {
        return [tokens.tokenOf(await tokens.identify(token, asker))].filter((found) => found !== undefined);
      } catch (error) {
        if ((error as { readonly kind?: string }).kind === 'AuthenticationRequired') return [];
        throw error;
      }
    };
    const asked = [...new Set((body as { readonly tokens: readonly string[] }).tokens)];
    const valid: EdgeToken[] = [];
    // As many as may wait for the origin from one address.
    for (let start = 0; start < asked.length; start += tokensValidatedAtOnce)
      valid.push(...(await Promise.all(asked.slice(start, start + tokensValidatedAtOnce).map(validOf))).flat());
    return reply.header('content-type', jsonContentType).send(JSON.stringify({ tokens: valid }));
  });
}

/** Adds all that SDKs, browsers, OFREP clients and other edges call. */
export function mountOperations(app: FastifyInstance, options: MountOptions): void {
  mountDelivery(app, options);
  mountReports(app, options);
  mountValidation(app, options);
}
