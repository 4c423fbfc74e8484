import { type Static, Type } from 'typebox';

/** A place where features are switched on and off, such as production. */
export const Environment = Type.Object(
  {
    name: Type.String({ description: 'the name of the environment' }),
    type: Type.String({ description: 'the type, such as development or production' }),
    sortOrder: Type.Integer({ description: 'the place in the list of environments' }),
    enabled: Type.Boolean({ description: 'whether the environment is in use' }),
  },
  { title: 'environmentSchema', description: 'A place where features are switched on and off.' },
);
export type Environment = Static<typeof Environment>;
