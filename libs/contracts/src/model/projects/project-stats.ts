import { type Static, Type } from 'typebox';

const number = (description: string) => Type.Number({ minimum: 0, description });

/** What happened in a project in the last 30 days (the current window) and in the 30 days before (the past one). */
export const ProjectStats = Type.Object(
  {
    avgTimeToProdCurrentWindow: number(
      'the average number of days from the creation of a feature until it was first enabled in production, of those that were in the current window',
    ),
    createdCurrentWindow: number('how many features were created in the current window; deleted ones are not counted'),
    createdPastWindow: number('how many features were created in the past window; deleted ones are not counted'),
    archivedCurrentWindow: number('how many features were archived in the current window and still are'),
    archivedPastWindow: number('how many features were archived in the past window and still are'),
    projectActivityCurrentWindow: number('how many events there were in the current window, by days of UTC'),
    projectActivityPastWindow: number('how many events there were in the past window, by days of UTC'),
    projectMembersAddedCurrentWindow: number('how many members were added in the current window'),
  },
  {
    title: 'projectStatsSchema',
    description: 'The activity of a project in the last 30 days, and in the 30 days before.',
  },
);
export type ProjectStats = Static<typeof ProjectStats>;
