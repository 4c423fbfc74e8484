import { type Static, Type } from 'typebox';
import { Payload } from './variant.ts';

/** What a user gets of a feature that is on. */
export const FrontendVariant = Type.Object(
  {
    name: Type.String({ description: 'the variant; `disabled` where there is none' }),
    enabled: Type.Boolean({ description: 'whether there is one' }),
    payload: Type.Optional(Payload),
    feature_enabled: Type.Boolean({ description: 'whether the feature is on' }),
    featureEnabled: Type.Boolean({ description: 'the same, as later SDKs call it' }),
  },
  { title: 'frontendApiVariantSchema', description: 'What a user gets of a feature that is on.' },
);

/** Features that are on for one user. */
export const FrontendFeatures = Type.Object(
  {
    toggles: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'the name of the feature' }),
          enabled: Type.Boolean({ description: '`true`: only those that are on are listed' }),
          impressionData: Type.Boolean({ description: 'whether impression data is collected' }),
          variant: FrontendVariant,
        },
        { title: 'frontendApiFeatureSchema', description: 'A feature that is on for one user.' },
      ),
      { description: 'the features that are on, by name' },
    ),
  },
  { title: 'frontendApiFeaturesSchema', description: 'Features that are on for one user.' },
);
export type FrontendFeatures = Static<typeof FrontendFeatures>;

/** A value of a context field; it is compared as text, and null is none. */
const Value = Type.Unsafe<string | number | boolean | null>({ type: ['string', 'number', 'boolean', 'null'] });
const values = { type: 'object', additionalProperties: Value };

/** For whom features are evaluated, in a body. */
export const FrontendBody = Type.Object(
  {
    context: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        properties: { properties: { ...values, description: 'further fields' } },
        additionalProperties: Value,
        description: 'the context: `userId`, `sessionId`, `remoteAddress`, `currentTime` and any other field',
      }),
    ),
  },
  { title: 'frontendApiContextSchema', description: 'For whom features are evaluated.' },
);
export type FrontendBody = Static<typeof FrontendBody>;

const text = (description: string) => Type.Optional(Type.String({ description }));

/** The address that a request comes from, which stands for the one of the user where nothing better is known. */
const callerAddress = Type.Optional(Type.String({ maxLength: 100 }));

/** For whom features are evaluated, in an address. */
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

/** The address of the caller, which the gateway adds to a request with a body. */
export const CallerQuery = Type.Object({ callerAddress });
