import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Counts what the features service has, hidden projects included. */
export const CountResources = defineOperation({
  subject: 'call.features.count-resources',
  operationId: 'resourcesOfFeatures',
  summary: 'Counts what the features service has',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  reply: Type.Object({
    features: Type.Integer(),
    archivedFeatures: Type.Integer(),
    projects: Type.Integer(),
    contextFields: Type.Integer(),
    environments: Type.Integer(),
    segments: Type.Integer(),
    strategyTypes: Type.Integer(),
    applications: Type.Object({ allTime: Type.Integer(), last30: Type.Integer(), last7: Type.Integer() }),
    productionEnvironments: Type.Array(Type.String()),
  }),
});
