import { type Static, Type } from 'typebox';
import { featureSchemasFor } from '../features/feature-fields.ts';
import { Payload } from '../features/variants.ts';
import { defineOperation } from '../operation.ts';

export const FrontendVariant = Type.Object(
  {
    name: Type.String({ description: 'the variant; `disabled` where there is none' }),
    enabled: Type.Boolean({ description: 'whether a variant applies' }),
    payload: Type.Optional(Payload),
    feature_enabled: Type.Boolean({ description: 'whether the feature is on' }),
    featureEnabled: Type.Boolean({ description: 'the same, for later SDKs' }),
  },
  { title: 'frontendApiVariantSchema', description: 'The variant that a user gets of an enabled feature.' },
);

export const FrontendFeatures = Type.Object(
  {
    toggles: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'the name of the feature' }),
          enabled: Type.Boolean({ description: '`true`: only those that are on are listed' }),
          ...featureSchemasFor('browsers'),
          variant: FrontendVariant,
        },
        { title: 'frontendApiFeatureSchema', description: 'A feature that is on for one user.' },
      ),
      { description: 'the features that are on, by name' },
    ),
  },
  { title: 'frontendApiFeaturesSchema', description: 'The features that are enabled for one user.' },
);
export type FrontendFeatures = Static<typeof FrontendFeatures>;

export const FrontendBody = Type.Object(
  {
    context: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        properties: { properties: { description: 'an object with further fields' } },
        additionalProperties: true,
        description:
          'the context: `userId`, `sessionId`, `remoteAddress`, `currentTime` and any other field. Texts, numbers and booleans are fields; other values are ignored',
      }),
    ),
  },
  { title: 'frontendApiContextSchema', description: 'The context in which features are evaluated.' },
);
export type FrontendBody = Static<typeof FrontendBody>;

function text(description: string) {
  return Type.Optional(Type.String({ description }));
}

/** The client's IP address, used where the context has no address of the user. */
const callerAddress = Type.Optional(Type.String({ maxLength: 100 }));

/** The evaluation context in the query of a URL. */
export const FrontendQuery = Type.Object(
  {
    userId: text('the user'),
    sessionId: text('the session of the user'),
    remoteAddress: text('the address of the user; default: the address of the caller'),
    appName: text('the application'),
    currentTime: text('the time of the evaluation; default: now'),
    environment: text(
      'the environment, unless the token is for one; without it, or with `default` where no environment is called that: the first enabled environment',
    ),
    callerAddress,
  },
  {
    additionalProperties: Type.String(),
    description: 'further fields of the context, as they are or as `properties[<field>]`',
  },
);
export type FrontendQuery = Static<typeof FrontendQuery>;

/** The client's IP address, which the gateway adds to a request with a body. */
export const CallerAddressQuery = Type.Object({ callerAddress });

export const GetFrontendFeatures = defineOperation({
  subject: 'call.gateway.get-frontend-features',
  summary: 'Evaluate the features for a user',
  description:
    'Returns the enabled features of a user, with their variants, for browsers and apps, without the rules. Every parameter of the query is a field of the context, as it is or as `properties[<field>]`.',
  tag: 'Frontend API',
  http: { method: 'GET', url: '/api/frontend', address: 'callerAddress' },
  respondsFromMemory: true,
  permission: 'FRONTEND',
  query: FrontendQuery,
  reply: FrontendFeatures,
  errors: ['ValidationError'],
});

/** The context is in the body, since URLs are logged and limited in length. */
export const EvaluateFrontendFeatures = defineOperation({
  subject: 'call.gateway.evaluate-frontend-features',
  operationId: 'getFrontendFeaturesWithPost',
  summary: 'Evaluate the features for the context in the body',
  description: 'Returns the enabled features of a user, with their variants. Nothing is stored.',
  tag: 'Frontend API',
  http: { method: 'POST', url: '/api/frontend', address: 'callerAddress', dropsUnusableNames: true },
  readsOnly: true,
  respondsFromMemory: true,
  permission: 'FRONTEND',
  query: CallerAddressQuery,
  body: FrontendBody,
  reply: FrontendFeatures,
});
