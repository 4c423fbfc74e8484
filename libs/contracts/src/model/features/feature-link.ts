import { type Static, Type } from 'typebox';
import { Nullable } from '../schema.ts';

const title = Type.Optional(
  Nullable(Type.String({ maxLength: 255 }), { description: 'the title, shown instead of the address' }),
);

/** A URL that is attached to a feature, such as its ticket. */
export const FeatureLink = Type.Object(
  {
    id: Type.String({ description: 'the id of the link' }),
    url: Type.String({ description: 'the address' }),
    title,
  },
  { title: 'featureLinkSchema', description: 'An address that belongs to a feature, such as its ticket.' },
);
export type FeatureLink = Static<typeof FeatureLink>;

export const FeatureLinkBody = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'an http or https address; one without a scheme is taken as https',
    }),
    title,
  },
  { title: 'linkSchema', description: 'The address and the title of a link of a feature.' },
);
export type FeatureLinkBody = Static<typeof FeatureLinkBody>;
