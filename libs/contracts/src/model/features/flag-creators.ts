import { type Static, Type } from 'typebox';
import { Count } from '../schema.ts';

export const ProjectFlagCreators = Type.Array(
  Type.Object({
    id: Type.Integer({ description: 'the id of the user' }),
    name: Type.String({ description: 'the name of the user' }),
  }),
  { title: 'projectFlagCreatorsSchema', description: 'The creators of the features of a project.' },
);
export type ProjectFlagCreators = Static<typeof ProjectFlagCreators>;

/** One page of the users who created features. */
export const FlagCreatorPage = Type.Object(
  {
    flagCreators: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the user' }),
        name: Type.String({ description: 'the name of the user' }),
      }),
      { description: 'the people of this page, by name' },
    ),
    total: Count('the number on all pages'),
  },
  { title: 'flagCreatorsSchema', description: 'One page of the users who created features.' },
);
export type FlagCreatorPage = Static<typeof FlagCreatorPage>;
