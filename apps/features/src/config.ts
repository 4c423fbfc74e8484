import { databaseSettings, outboxSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** The settings of the features service. */
export const FeaturesConfig = Type.Object({
  ...databaseSettings('FEATURES'),
  ...outboxSettings('FEATURES'),
  FEATURES_READ_DATABASE_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'a streaming replica of the database, which serves reads that it has everything for; the primary serves all others',
    }),
  ),
  FEATURES_HOUSEKEEPING_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 60_000,
    description:
      'interval in ms at which features past their lifetime are marked, changed usage is emitted and expired usage is deleted',
  }),
  FEATURES_MAX_APPLICATIONS: Type.Integer({
    minimum: 10,
    maximum: 1_000_000,
    default: 10_000,
    description:
      'maximum length of the list of applications; frontend keys, which are public, may add a tenth of it. Reports of unlisted applications are counted without their names',
  }),
  FEATURES_MAX_NEW_APPLICATIONS_PER_MINUTE: Type.Integer({
    minimum: 1,
    default: 100,
    description: 'maximum number of new applications in a minute for each key, in each process',
  }),
  FEATURES_APPLICATION_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    default: 90,
    description: 'days without a report after which an application is removed from the list',
  }),
  FEATURES_ALLOW_REGEX: Type.Boolean({
    default: false,
    description:
      'whether constraints may use the operator `REGEX`. All server-side SDKs must know it first: see the documentation of SDKs',
  }),
  FEATURES_MAX_FEATURES: Type.Optional(
    Type.Integer({ minimum: 1, description: 'maximum number of active features; unlimited by default' }),
  ),
  FEATURES_MAX_PROJECTS: Type.Integer({
    minimum: 1,
    default: 500,
    description: 'maximum number of projects, archived ones included',
  }),
  FEATURES_MAX_SEGMENTS: Type.Integer({
    minimum: 1,
    default: 300,
    description: 'maximum number of segments; every gateway has all of them in its memory',
  }),
  FEATURES_MAX_SEGMENT_LISTS_MIB: Type.Integer({
    minimum: 1,
    maximum: 65_536,
    default: 512,
    description:
      'maximum MiB of ids in the lists of all segments together, which every gateway has in its memory; as much again may be staged for change requests',
  }),
});
export type FeaturesConfig = Static<typeof FeaturesConfig>;
