import { type Static, Type } from 'typebox';
import { Timestamp } from '../schema.ts';

export const UnknownFlagsQuery = Type.Object({
  project: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'only the reports of applications whose keys are for this project, or for all',
    }),
  ),
});
export type UnknownFlagsQuery = Static<typeof UnknownFlagsQuery>;

export const UnknownFlags = Type.Object(
  {
    unknownFlags: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the name that applications evaluate' }),
        lastSeenAt: Timestamp('when an application last reported it'),
        reports: Type.Array(
          Type.Object({
            appName: Type.String({ description: 'the application' }),
            environments: Type.Array(
              Type.Object({
                environment: Type.String({ description: 'the environment' }),
                seenAt: Timestamp('when it last reported it there'),
              }),
              { description: 'where it reported it' },
            ),
          }),
          { description: 'the applications, by name, of the latest 100 reports' },
        ),
      }),
      { description: 'the latest first: at most 1,000, of the latest 20,000 reports' },
    ),
  },
  {
    title: 'unknownFlagsResponseSchema',
    description: 'Names that applications have evaluated in the last two days and that no active feature has.',
  },
);
export type UnknownFlags = Static<typeof UnknownFlags>;
