import { type Static, Type } from 'typebox';
import { Constant, AnyObject, Nullable } from '../schema.ts';

const name = Type.String({ description: 'the name by which strategies refer to the type' });
const description = Nullable(Type.String(), { description: 'the description of the strategy type' });
const title = Nullable(Type.String(), { description: 'the name for people' });

/** A setting that strategies of a type have. */
export const StrategyTypeParameter = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'the name of the parameter' }),
    type: Type.Optional(
      Type.String({ description: 'the type of its input: string, percentage, list, number or boolean' }),
    ),
    description: Type.Optional(Type.String({ description: 'the description of the parameter' })),
    required: Type.Optional(Type.Boolean({ description: 'whether a strategy must have it; default: false' })),
  },
  { description: 'A setting that strategies of a type have.' },
);
const parameters = Type.Array(StrategyTypeParameter, { description: 'the settings that strategies of this type have' });

/** A strategy type: built in, or custom and evaluated by the users' own SDKs. */
export const StrategyType = Type.Object(
  {
    name,
    displayName: Nullable(Type.String(), { description: 'the name for people' }),
    title: Type.Optional(title),
    description,
    editable: Type.Boolean({ description: 'whether it was added, and may be changed' }),
    deprecated: Type.Boolean({ description: 'whether it is not offered any more' }),
    parameters: Type.Array(AnyObject(), { description: 'the settings that strategies of this type have' }),
  },
  { title: 'strategySchema', description: 'A kind of strategy.' },
);
export type StrategyType = Static<typeof StrategyType>;

export const StrategyTypes = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    strategies: Type.Array(StrategyType, { description: 'the strategy types' }),
  },
  { title: 'strategiesSchema', description: 'The strategy types.' },
);
export type StrategyTypes = Static<typeof StrategyTypes>;

export const CreateStrategyTypeBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'the name, unique among all strategy types' }),
    title: Type.Optional(title),
    description: Type.Optional(description),
    parameters,
  },
  { title: 'createStrategySchema', description: 'The properties of a new strategy type.' },
);
export type CreateStrategyTypeBody = Static<typeof CreateStrategyTypeBody>;

export const UpdateStrategyTypeBody = Type.Object(
  { title: Type.Optional(title), description: Type.Optional(description), parameters },
  { title: 'updateStrategySchema', description: 'The new properties of a strategy type.' },
);
export type UpdateStrategyTypeBody = Static<typeof UpdateStrategyTypeBody>;
