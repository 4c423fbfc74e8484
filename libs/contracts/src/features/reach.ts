import { type Static, Type } from 'typebox';

/** For whom a feature is on in an environment, while it is enabled there: nobody, some users, or everybody. */
export const reachExtents = ['none', 'partial', 'all'] as const;

/** What one strategy of a feature, which is not disabled, contributes to its reach. Absent members mean none. */
export const ReachRule = Type.Object({
  name: Type.String({ description: 'the name of the strategy' }),
  share: Type.Optional(Type.String({ description: 'the percentage of a gradual rollout, as it is stored' })),
  segments: Type.Optional(Type.Array(Type.Integer(), { description: 'the ids of its segments' })),
  constraints: Type.Optional(Type.Integer({ description: 'the number of its constraints' })),
  variants: Type.Optional(Type.Integer({ description: 'the number of its variants' })),
});
export type ReachRule = Static<typeof ReachRule>;

/** Whom a feature reaches in an environment. */
export const Reach = Type.Object(
  {
    extent: Type.Enum(['off', ...reachExtents], {
      type: 'string',
      description: '`off`, or for whom it is on: `none` for nobody, `partial` for some users, `all` for everybody',
    }),
    rules: Type.Integer({ description: 'the number of strategies that are not disabled' }),
    share: Type.Optional(
      Type.Number({
        description:
          'the percentage of those whom the only strategy is for, or 100 where a strategy is for everybody; absent where several strategies decide',
      }),
    ),
    audience: Type.Optional(
      Type.Enum(['segments', 'list', 'conditions'], {
        type: 'string',
        description:
          'whom the only strategy is for: members of `segments`, the users, addresses or hosts of a list, or those who meet other conditions; absent where it is for all users',
      }),
    ),
    segments: Type.Optional(
      Type.Array(Type.Integer(), {
        description: 'the ids of the segments of the audience; `segmentIds` of the feature has them beside their names',
      }),
    ),
    variants: Type.Integer({ description: 'the largest number of variants among which users are divided' }),
  },
  {
    title: 'featureReachSchema',
    description:
      'What the feature does in the environment, or would do if it were enabled. Absent for features of an earlier version that have not changed since.',
  },
);
export type Reach = Static<typeof Reach>;
