import { type Static, Type } from 'typebox';
import { Events } from '../../events/event.ts';
import { defineOperation } from '../../operation.ts';

/** The newest events of a feature. */
export const FeatureEvents = Type.Object(
  { toggleName: Type.String({ description: 'the name of the feature' }), ...Events.properties },
  { title: 'featureEventsSchema', description: 'The newest events of a feature.' },
);
export type FeatureEvents = Static<typeof FeatureEvents>;

/** Lists the newest events of a feature, which may be deleted. */
export const ListNewestEventsOfFeature = defineOperation({
  subject: 'call.audit.list-newest-events-of-feature',
  operationId: 'getEventsForToggle',
  summary: 'List the newest events of a feature',
  description: 'Returns the 100 newest events of the feature that the caller may see; none for an unknown feature.',
  tag: 'Events',
  http: { method: 'GET', url: '/api/admin/events/:featureName' },
  permission: 'authenticated',
  params: Type.Object({ featureName: Type.String({ description: 'name of the feature' }) }),
  reply: FeatureEvents,
});
