import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from './schema.ts';

/** The stages of a feature's life, in their order. */
export const lifecycleStages = ['initial', 'pre-live', 'live', 'completed', 'archived'] as const;
export type LifecycleStage = (typeof lifecycleStages)[number];

/** Where a feature is in its life. */
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
  { description: 'Where a feature is in its life.' },
);
export type Lifecycle = Static<typeof Lifecycle>;
