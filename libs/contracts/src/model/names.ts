import { type Static, Type } from 'typebox';
import { notBlank, UrlFriendlyName } from './documented-patterns.ts';

/** A name of a segment to validate. */
export const SegmentNameBody = Type.Object(
  {
    name: Type.String({
      description: 'the name to check',
      ...notBlank,
    }),
  },
  { title: 'segmentNameSchema', description: 'A name of a segment to validate.' },
);

/** A name to validate. */
export const NameBody = Type.Object(
  { name: UrlFriendlyName('the name to check') },
  { title: 'nameSchema', description: 'A name to validate.' },
);
export type NameBody = Static<typeof NameBody>;

export const Names = Type.Array(Type.String(), { description: 'names, in order' });
export type Names = Static<typeof Names>;
