import { databaseSettings, outboxSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** The settings of the features service. */
export const FeaturesConfig = Type.Object({
  ...databaseSettings('FEATURES'),
  ...outboxSettings('FEATURES'),
  FEATURES_HOUSEKEEPING_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 60_000,
    description:
      'milliseconds after which the features look again for what has become stale, untold or too old to keep',
  }),
  FEATURES_SDK_ANSWERS_MIB: Type.Integer({
    minimum: 1,
    maximum: 4_096,
    default: 64,
    description: 'mebibytes of answers to SDKs that the features keep at most, to make them once and not for each',
  }),
  FEATURES_APPLICATIONS_LIMIT: Type.Integer({
    minimum: 10,
    maximum: 1_000_000,
    default: 10_000,
    description:
      'how many applications are listed; a tenth of them may be named by frontend keys, which are public. Reports of others are counted without their names',
  }),
  FEATURES_NEW_APPLICATIONS_PER_MINUTE: Type.Integer({
    minimum: 1,
    default: 100,
    description: 'how many new applications each key may name within a minute, in each process',
  }),
  FEATURES_APPLICATION_DAYS: Type.Integer({
    minimum: 1,
    default: 90,
    description: 'days without a report after which an application is removed from the list',
  }),
  FEATURES_LIMIT: Type.Optional(
    Type.Integer({ minimum: 1, description: 'how many active features there may be; as many as wanted without it' }),
  ),
});
export type FeaturesConfig = Static<typeof FeaturesConfig>;
