import { type Static, Type } from 'typebox';

/** The onboarding status of a project. */
export const OnboardingStatus = Type.Union(
  [
    Type.Object({
      status: Type.Enum(['onboarding-started', 'onboarded'], {
        type: 'string',
        description: '`onboarding-started`: there is no feature yet; `onboarded`: an SDK has used the project',
      }),
    }),
    Type.Object({
      status: Type.Enum(['first-flag-created'], { type: 'string', description: 'no SDK has used the project yet' }),
      feature: Type.String({ description: 'the oldest feature of the project' }),
    }),
  ],
  { description: 'the onboarding status of the project' },
);
export type OnboardingStatus = Static<typeof OnboardingStatus>;
