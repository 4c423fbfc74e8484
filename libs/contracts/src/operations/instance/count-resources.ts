import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Counts the resources of the features service, including those of hidden projects. */
export const CountResources = defineOperation({
  subject: 'call.features.count-resources',
  operationId: 'countResources',
  summary: 'Count the resources of the features service',
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
