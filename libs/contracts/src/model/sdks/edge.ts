import { type Static, Type } from 'typebox';
import { AnyObject, Timestamp } from '../schema.ts';

const text = (description: string) => Type.String({ maxLength: 255, description });

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
export type EdgeInstances = Static<typeof EdgeInstances>;

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
