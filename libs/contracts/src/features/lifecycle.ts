import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { Nullable, Timestamp } from '../schemas.ts';

const defineOperation = operationsOf('Features');

/** The lifecycle stages of a feature, in their order. */
export const lifecycleStages = ['initial', 'pre-live', 'live', 'completed', 'archived'] as const;
export type LifecycleStage = (typeof lifecycleStages)[number];

export const Lifecycle = Type.Object(
  {
    stage: Type.Enum([...lifecycleStages], { type: 'string', description: 'the stage that the feature is in' }),
    status: Type.Optional(
      Nullable(Type.String(), {
        description:
          'a detail of the stage: a completed feature can be `kept` or `discarded`; promised in search results',
      }),
    ),
    enteredStageAt: Timestamp('when the feature entered the stage'),
  },
  { description: 'The lifecycle stage of a feature.' },
);

export const LifecycleStages = Type.Array(Lifecycle, {
  title: 'featureLifecycleSchema',
  description: 'The stages that a feature has entered, in order.',
});

function count(what: string) {
  return Type.Integer({ description: `the number of features that are ${what}` });
}

export const LifecycleCounts = Type.Object(
  {
    initial: count('not used yet'),
    preLive: count('used, and not in production'),
    live: count('used in production'),
    completed: count('completed'),
    archived: count('archived'),
  },
  { title: 'featureLifecycleCountSchema', description: 'The number of features in each lifecycle stage.' },
);
export type LifecycleCounts = Static<typeof LifecycleCounts>;

/** The stage that each member of `LifecycleCounts` counts. `lifecycleSummary` of `ProjectStatus` has the same members. */
export const lifecycleStageOfMember = {
  initial: 'initial',
  preLive: 'pre-live',
  live: 'live',
  completed: 'completed',
  archived: 'archived',
} as const satisfies Record<keyof LifecycleCounts, LifecycleStage>;

export const CompleteFeatureBody = Type.Object(
  {
    status: Type.Enum(['kept', 'discarded'], {
      type: 'string',
      description: 'whether what the feature switches is kept or discarded',
    }),
    statusValue: Type.Optional(Type.String({ maxLength: 255, description: 'such as the variant that was kept' })),
  },
  {
    title: 'featureLifecycleCompletedSchema',
    description: 'The completion of a feature.',
    additionalProperties: false,
  },
);
export type CompleteFeatureBody = Static<typeof CompleteFeatureBody>;

/** Emits `feature-completed`. */
export const CompleteFeature = defineOperation({
  subject: 'call.features.complete-feature',
  operationId: 'complete',
  summary: 'Mark a feature as completed',
  description: 'Marks a feature as completed, and whether it is kept or discarded.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/lifecycle/complete' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  body: CompleteFeatureBody,
});

export const CountLifecycles = defineOperation({
  subject: 'call.features.count-lifecycles',
  operationId: 'getLifecycleCount',
  summary: 'Count the features by lifecycle stage',
  description: 'Returns the number of features in each lifecycle stage, of all projects that the caller may see.',
  http: { method: 'GET', url: '/api/admin/lifecycle/count' },
  isHeavy: true,
  permission: 'authenticated',
  reply: LifecycleCounts,
});

export const GetLifecycle = defineOperation({
  subject: 'call.features.get-lifecycle',
  operationId: 'getFeatureLifecycle',
  summary: 'Get the lifecycle of a feature',
  description: 'Returns the stages that the feature has entered, in order.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/lifecycle' },
  permission: 'authenticated',
  reply: LifecycleStages,
});

/** Emits `feature-uncompleted`. */
export const UncompleteFeature = defineOperation({
  subject: 'call.features.uncomplete-feature',
  operationId: 'uncomplete',
  summary: 'Revert the completion of a feature',
  description: 'Returns the feature to the stage that it was in before.',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/lifecycle/uncomplete',
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
});
