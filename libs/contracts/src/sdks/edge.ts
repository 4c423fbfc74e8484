import { type Static, Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { AnyObject, Timestamp } from '../schemas.ts';

function text(description: string) {
  return Type.String({ maxLength: 255, description });
}

/**
 * The report of an instance of Unleash Edge, a proxy between SDKs and this server. Further members are stored and returned as they were
 * sent.
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
    description: 'The report of an Edge: traffic, latencies, connected streams, downstream Edges and more.',
  },
);
export type EdgeInstanceBody = Static<typeof EdgeInstanceBody>;

export const EdgeInstances = Type.Object(
  {
    edges: Type.Array(
      AnyObject({
        properties: { ...EdgeInstanceBody.properties, reportedAt: Timestamp('when it reported last') },
        required: ['identifier', 'appName', 'edgeVersion', 'reportedAt'],
        description: 'the report, and its time',
      }),
      { description: 'the Edges that reported within the last two days, the latest first; at most 8 MiB of reports' },
    ),
  },
  { title: 'edgeInstancesSchema', description: 'The Edges that report to this server.' },
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
        maxItems: 100,
        description: 'the tokens that the Edge received',
      }),
    },
    { title: 'tokenStringListSchema', description: 'Tokens to check.' },
  ),
  reply: ValidEdgeTokens,
  readsOnly: true,
});

/** Lists the Edge instances with a recent report. */
export const ListEdgeInstances = defineOperation({
  subject: 'call.features.list-edge-instances',
  operationId: 'getEdgeInstances',
  summary: 'List the Edges that report to this server',
  tag: 'Metrics',
  http: { method: 'GET', url: '/api/admin/metrics/edges' },
  permission: 'authenticated',
  reply: EdgeInstances,
});

export const ReportEdgeInstance = defineOperation({
  subject: 'call.features.report-edge-instance',
  operationId: 'clientEdgeMetrics',
  summary: 'Report the state of an Edge',
  description: 'Stores the report of an Edge; a later report of the same process replaces it.',
  tag: 'Client',
  http: { method: 'POST', url: '/api/client/metrics/edge', status: 202 },
  permission: 'CLIENT',
  body: EdgeInstanceBody,
  errors: ['ValidationError'],
});
