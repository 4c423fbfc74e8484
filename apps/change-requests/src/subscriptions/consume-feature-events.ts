import type { OutboxMessage } from '@bunting/contracts';
import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { idsIn } from './ids-in-event.ts';
import { markSchedulesForConflictCheck } from '../persistence/schedule-repository.ts';

interface FeatureEvent {
  readonly type: string;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly data: unknown;
  readonly preData: unknown;
}

/** Events that cannot conflict with a change request. */
const ignoredTypes = new Set([
  'feature-created',
  'feature-tagged',
  'feature-untagged',
  'feature-favorited',
  'feature-unfavorited',
]);

/** The features, segments and projects that events changed. */
const changedBy = (messages: readonly OutboxMessage[]) => {
  const features = new Set<string>();
  const segments = new Set<number>();
  const projects = new Set<string>();
  for (const { payload } of messages) {
    const event = payload as FeatureEvent;
    const { type, project, featureName } = event;
    if (ignoredTypes.has(type)) continue;
    if (featureName !== null) features.add(featureName);
    if (type.startsWith('segment-')) for (const id of idsIn(event)) segments.add(id);
    if (type === 'project-environment-removed' && project !== null) projects.add(project);
  }
  return { features: [...features], segments: [...segments], projects: [...projects] };
};

/** Consumes changes of features and segments, so that conflicting schedules are suspended before their time. */
export const consumeFeatureEvents = (
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'metrics' | 'log' | 'onCommitted'>,
): Promise<Projection> =>
  startProjection({
    ...options,
    consumer: 'change-requests',
    producer: 'features',
    topic: 'event',
    apply: (tx, messages) => markSchedulesForConflictCheck(tx, changedBy(messages)),
  });
