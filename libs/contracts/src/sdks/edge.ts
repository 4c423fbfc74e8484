import { type Static, Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { AnyObject, Timestamp } from '../schemas.ts';

function text(description: string) {
  return Type.String({ maxLength: 255, description });
}

/**
 * The report of an instance of an edge, a proxy between SDKs and this server. Further members are stored and returned as they were sent.
 */
export const EdgeInstanceBody = Type.Object(
  {
    identifier: Type.String({ minLength: 1, maxLength: 255, description: 'the id of the process' }),
    appName: text('the name that its operator gave it'),
    edgeVersion: text('its version'),
    region: Type.Optional(
      Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 255, description: 'the region where it runs' }),
    ),
  },
  {
    title: 'edgeInstanceDataSchema',
    description: 'The report of an edge: traffic, latencies, connected streams, edges behind it and more.',
  },
);
export type EdgeInstanceBody = Static<typeof EdgeInstanceBody>;

/** The revision that an edge has of an environment and projects. */
export interface EdgeRevision {
  readonly environment: string;
  /** `['*']` for all */
  readonly projects: readonly string[];
  readonly revisionId: number;
  /** the revision that this server has now, which is later where the edge is behind; undefined where it was not looked up */
  readonly currentRevisionId?: number;
  readonly lastUpdated?: string;
}

/** The report of an edge without what no edge sends. */
export interface EdgeReport extends EdgeInstanceBody {
  /** of Bunting: for how long what the edge serves had not been confirmed, in the environment where that was longest */
  readonly staleMs?: number;
  /** of Bunting: how often the origin did not answer as it should, and how many responses of the edge were of the kind 5xx */
  readonly errorsSinceLastReport?: { readonly upstream: number; readonly responses: number };
  readonly connectedStreamingClients?: number;
  readonly edgeApiKeyRevisionIds?: readonly EdgeRevision[];
  readonly connectedEdges?: readonly EdgeReport[];
  readonly [further: string]: unknown;
}
export type EdgeInstance = EdgeReport & { readonly reportedAt: string };

/** How many edges a report has with those behind them, how many levels of them, and of each how many revisions: further ones are left out. */
const maxEdges = 100;
const maxLevels = 5;
const maxRevisions = 100;
const maxProjects = 500;
const maxReportBytes = 64 * 1024;

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 255;
}
function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
function isEdge(value: unknown): value is EdgeInstanceBody & Record<string, unknown> {
  const { identifier, appName, edgeVersion, region } = (value ?? {}) as Record<string, unknown>;
  return isText(identifier) && identifier !== '' && isText(appName) && isText(edgeVersion) && isText(region ?? '');
}
function isRevision(value: unknown): value is EdgeRevision {
  const { environment, projects, revisionId, lastUpdated } = (value ?? {}) as Record<string, unknown>;
  return (
    isText(environment) &&
    Array.isArray(projects) &&
    projects.length <= maxProjects &&
    projects.every(isText) &&
    isAmount(revisionId) &&
    isText(lastUpdated ?? '')
  );
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Leaves out edges behind this one beyond the maximum size, and all that the schema does not bound where the report alone exceeds it. */
function fitting(report: EdgeReport): EdgeReport {
  if (bytesOf(report) <= maxReportBytes) return report;
  const { connectedEdges = [], ...own } = report;
  let left = maxReportBytes - bytesOf({ ...own, connectedEdges: [] });
  if (left < 0) {
    const { identifier, appName, edgeVersion, region, staleMs } = report;
    return {
      identifier,
      appName,
      edgeVersion,
      ...(region === undefined ? {} : { region }),
      ...(staleMs === undefined ? {} : { staleMs }),
    };
  }
  return { ...own, connectedEdges: connectedEdges.filter((edge) => (left -= bytesOf(edge) + 1) >= 0) };
}

/**
 * A report as it is kept, whatever a client sends: at most 100 edges in five levels, with 100 revisions each, and figures that are figures.
 * Other members stay as they are. Of more than 64 KiB the last edges behind it are left out, and of one that alone is larger all but what it
 * is and for how long it is stale.
 */
export function keptEdgeReport(report: EdgeInstanceBody): EdgeReport {
  let edges = 0;
  const keep = (one: EdgeInstanceBody & Record<string, unknown>, level: number): EdgeReport => {
    edges++;
    const { staleMs, connectedStreamingClients, errorsSinceLastReport, edgeApiKeyRevisionIds, ...others } = one;
    const { connectedEdges, ...kept } = others;
    const { upstream, responses } = (errorsSinceLastReport ?? {}) as Record<string, unknown>;
    const behind: EdgeReport[] = [];
    if (Array.isArray(connectedEdges) && level < maxLevels)
      for (const edge of connectedEdges as readonly unknown[])
        if (isEdge(edge) && edges < maxEdges) behind.push(keep(edge, level + 1));
    return {
      ...kept,
      ...(isAmount(staleMs) ? { staleMs } : {}),
      ...(isAmount(connectedStreamingClients) ? { connectedStreamingClients } : {}),
      ...(isAmount(upstream) && isAmount(responses) ? { errorsSinceLastReport: { upstream, responses } } : {}),
      ...(Array.isArray(edgeApiKeyRevisionIds)
        ? { edgeApiKeyRevisionIds: edgeApiKeyRevisionIds.filter(isRevision).slice(0, maxRevisions) }
        : {}),
      ...(Array.isArray(connectedEdges) ? { connectedEdges: behind } : {}),
    };
  };
  return fitting(keep(report, 1));
}

const amount = { type: 'integer', minimum: 0 } as const;

export const EdgeInstances = Type.Object(
  {
    edges: Type.Array(
      Type.Unsafe<EdgeInstance>({
        type: 'object',
        additionalProperties: true,
        properties: {
          ...EdgeInstanceBody.properties,
          reportedAt: Timestamp('when it reported last'),
          staleMs: {
            ...amount,
            description: 'milliseconds for which what it served was not confirmed by its origin; of edges of Bunting',
          },
          connectedStreamingClients: { ...amount, description: 'its open streams' },
          errorsSinceLastReport: AnyObject({
            properties: {
              upstream: { ...amount, description: 'answers of its origin that it could not use, or did not get' },
              responses: { ...amount, description: 'its responses with a status of 500 and more' },
            },
            description: 'what went wrong since its report before; of edges of Bunting',
          }),
          edgeApiKeyRevisionIds: Type.Array(
            AnyObject({
              properties: {
                environment: Type.String({ description: 'the environment' }),
                projects: Type.Array(Type.String(), { description: 'the projects; `*` for all' }),
                revisionId: { ...amount, description: 'the revision that the edge has' },
                currentRevisionId: {
                  ...amount,
                  description: 'the revision that this server has, later where the edge is behind',
                },
              },
              description: 'an environment and projects, and what the edge has of them',
            }),
            {
              description:
                'the revisions of what it serves, without those that count changes of projects hidden from the caller',
            },
          ),
          connectedEdges: Type.Array(AnyObject({ description: 'a report like this one' }), {
            description: 'the edges behind it, in at most five levels, at most 100, and 64 KiB with them',
          }),
        },
        required: ['identifier', 'appName', 'edgeVersion', 'reportedAt'],
        description: 'the report, and its time',
      }),
      { description: 'the edges that reported within the last day, the latest first; at most 8 MiB of reports' },
    ),
  },
  { title: 'edgeInstancesSchema', description: 'The edges that report to this server.' },
);

/** Those of the tokens that an Edge sent that are valid. */
export const ValidEdgeTokens = Type.Object(
  {
    tokens: Type.Array(
      Type.Object({
        token: Type.String({ description: 'the token' }),
        type: Type.Unsafe<'client' | 'frontend'>({
          type: 'string',
          enum: ['client', 'frontend'],
          description: 'its kind',
        }),
        projects: Type.Array(Type.String(), { description: 'the projects that it is for; `*` for all' }),
        environment: Type.String({ description: 'the environment that it is for' }),
      }),
      { description: 'the valid tokens, each once' },
    ),
  },
  { title: 'validatedEdgeTokensSchema', description: 'The tokens that are valid.' },
);
export type ValidEdgeTokens = Static<typeof ValidEdgeTokens>;

/** How many tokens of a validation are looked up at once, so that one request does not make all others wait. */
export const tokensValidatedAtOnce = 100;

export const ValidateEdgeTokens = defineOperation({
  subject: 'call.gateway.validate-edge-tokens',
  operationId: 'getValidTokens',
  summary: 'Validate tokens for an Edge',
  description:
    'Returns those of the tokens that are valid client or frontend tokens, with their projects and environment. Other tokens, admin tokens included, are omitted.',
  tag: 'Edge',
  http: { method: 'POST', url: '/edge/validate' },
  permission: 'public',
  body: Type.Object(
    {
      tokens: Type.Array(Type.String({ maxLength: 512, description: 'a token' }), {
        maxItems: 1_000,
        description: 'the tokens that the Edge received: Edge asks for all that it knows at once',
      }),
    },
    { title: 'tokenStringListSchema', description: 'Tokens to check.' },
  ),
  reply: ValidEdgeTokens,
  readsOnly: true,
  errors: [],
});

/** Lists the edges with a recent report. */
export const ListEdgeInstances = defineOperation({
  subject: 'call.features.list-edge-instances',
  summary: 'List the reports of edges',
  idempotent: true,
  permission: 'authenticated',
  reply: EdgeInstances,
});

export const ListEdges = defineOperation({
  subject: 'call.gateway.list-edges',
  operationId: 'getEdgeInstances',
  summary: 'List the edges that report to this server',
  description:
    'Returns the last report of each edge, with those of the edges behind it, and for up to 50 pairs of an environment and projects that exist the revision that this server has now.',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/edges' },
  permission: 'authenticated',
  reply: EdgeInstances,
});

export const ReportEdgeInstance = defineOperation({
  subject: 'call.features.report-edge-instance',
  operationId: 'clientEdgeMetrics',
  summary: 'Report the state of an edge',
  description: 'Stores the report of an edge; a later report of the same process replaces it.',
  tag: 'Client',
  http: { method: 'POST', url: '/api/client/metrics/edge', status: 202 },
  permission: 'CLIENT',
  body: EdgeInstanceBody,
});
