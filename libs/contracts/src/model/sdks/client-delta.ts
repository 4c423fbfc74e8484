import { type Static, Type } from 'typebox';
import { ClientFeature, ClientSegment } from './client-feature.ts';

const eventId = Type.Integer({ minimum: 0, description: 'the revision: it grows with every change' });
const type = <T extends string>(name: T, description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [name], description });

/** The changes for an SDK since a revision, or the complete state. */
export const ClientDelta = Type.Object(
  {
    events: Type.Array(
      Type.Union([
        Type.Object({
          type: type('hydration', 'everything that the token gives access to'),
          eventId,
          features: Type.Array(ClientFeature),
          segments: Type.Array(ClientSegment),
        }),
        Type.Object({
          type: type('feature-updated', 'a feature was created or changed'),
          eventId,
          feature: ClientFeature,
        }),
        Type.Object({
          type: type('feature-removed', 'a feature was archived or deleted, or left the project'),
          eventId,
          featureName: Type.String(),
          project: Type.String(),
        }),
        Type.Object({
          type: type('segment-updated', 'a segment was created or changed, or is used for the first time'),
          eventId,
          segment: ClientSegment,
        }),
        Type.Object({
          type: type('segment-removed', 'no feature of the token uses the segment any more'),
          eventId,
          segmentId: Type.Integer(),
        }),
      ]),
      { description: 'one `hydration`, or the changes in rising order' },
    ),
  },
  { title: 'clientFeaturesDeltaSchema', description: 'The changes for an SDK since a revision.' },
);
export type ClientDelta = Static<typeof ClientDelta>;
