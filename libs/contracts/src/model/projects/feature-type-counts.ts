import { Type } from 'typebox';

export const FeatureTypeCounts = Type.Array(
  Type.Object({
    type: Type.String({ description: 'the feature type' }),
    count: Type.Integer({ description: 'the number of active features of it' }),
  }),
  { description: 'the number of active features of each type' },
);
