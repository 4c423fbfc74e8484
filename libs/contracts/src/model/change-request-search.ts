import { type Static, Type } from 'typebox';
import { Author, ChangeRequestSchedule, changeRequestStates } from './change-request.ts';
import { Timestamp } from './schema.ts';

/** A change request as a search shows it. */
export const ChangeRequestSearchItem = Type.Object(
  {
    id: Type.Number({ description: 'the id of the change request' }),
    title: Type.Optional(Type.String({ description: 'the title, if it has been given one' })),
    createdAt: Timestamp('when it was created'),
    createdBy: Author,
    environment: Type.String({ description: 'the environment where the changes are applied' }),
    project: Type.String({ description: 'the id of the project' }),
    features: Type.Array(Type.String(), { description: 'the names of the features that it changes' }),
    segments: Type.Array(Type.String(), { description: 'the names of the segments that it changes' }),
    state: Type.Enum([...changeRequestStates], { type: 'string', description: 'the state' }),
    schedule: Type.Optional(ChangeRequestSchedule),
  },
  { title: 'changeRequestSearchItemSchema', description: 'A change request as a search shows it.' },
);
export type ChangeRequestSearchItem = Static<typeof ChangeRequestSearchItem>;

/** One page of what a search for change requests found. */
export const ChangeRequestSearchPage = Type.Object(
  {
    changeRequests: Type.Array(ChangeRequestSearchItem, { description: 'those of this page, newest first' }),
    total: Type.Integer({ description: 'how many match, on whatever page' }),
  },
  { title: 'searchChangeRequestsSchema', description: 'One page of change requests.' },
);
export type ChangeRequestSearchPage = Static<typeof ChangeRequestSearchPage>;
