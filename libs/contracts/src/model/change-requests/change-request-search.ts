import { type Static, Type } from 'typebox';
import { Author, ChangeRequestSchedule, changeRequestStates } from './change-request.ts';
import { Timestamp } from '../schema.ts';

/** A change request in the results of a search. */
export const ChangeRequestSearchItem = Type.Object(
  {
    id: Type.Number({ description: 'the id of the change request' }),
    title: Type.Optional(Type.String({ description: 'the title, if it has one' })),
    createdAt: Timestamp('when it was created'),
    createdBy: Author,
    environment: Type.String({ description: 'the environment where the changes are applied' }),
    project: Type.String({ description: 'the id of the project' }),
    features: Type.Array(Type.String(), { description: 'the names of the features that it changes' }),
    segments: Type.Array(Type.String(), { description: 'the names of the segments that it changes' }),
    state: Type.Enum([...changeRequestStates], { type: 'string', description: 'the state' }),
    schedule: Type.Optional(ChangeRequestSchedule),
  },
  { title: 'changeRequestSearchItemSchema', description: 'A change request in the results of a search.' },
);
export type ChangeRequestSearchItem = Static<typeof ChangeRequestSearchItem>;

/** One page of the results of a search for change requests. */
export const ChangeRequestSearchPage = Type.Object(
  {
    changeRequests: Type.Array(ChangeRequestSearchItem, {
      description: 'the change requests of this page, newest first',
    }),
    total: Type.Integer({ description: 'the number that match, on all pages' }),
  },
  { title: 'searchChangeRequestsSchema', description: 'One page of change requests.' },
);
export type ChangeRequestSearchPage = Static<typeof ChangeRequestSearchPage>;
