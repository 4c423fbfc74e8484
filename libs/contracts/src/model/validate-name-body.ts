import { type Static, Type } from 'typebox';
import { notBlank, UrlFriendlyName } from './text-schemas.ts';

/** The body that is a name of a segment to validate. */
export const ValidateSegmentNameBody = Type.Object(
  {
    name: Type.String({
      description: 'the name to check',
      ...notBlank,
    }),
  },
  { title: 'segmentNameSchema', description: 'A name of a segment to validate.' },
);

/** The body that is a name of a context field or an environment to validate. */
export const ValidateNameBody = Type.Object(
  { name: UrlFriendlyName('the name to check') },
  { title: 'nameSchema', description: 'A name to validate.' },
);
export type ValidateNameBody = Static<typeof ValidateNameBody>;
