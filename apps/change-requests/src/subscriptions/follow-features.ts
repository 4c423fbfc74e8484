import type { OutboxMessage } from '@bunting/contracts';
import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { touchSchedules } from '../persistence/agenda.ts';

interface Told {
  readonly type: string;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly data: unknown;
  readonly preData: unknown;
}

/** What changes nothing that a change request could collide with. */
const harmless = new Set([
  'feature-created',
  'feature-tagged',
  'feature-untagged',
  'feature-favorited',
  'feature-unfavorited',
]);

const idOf = (document: unknown): number[] =>
  typeof document === 'object' && document !== null && 'id' in document && typeof document.id === 'number'
    ? [document.id]
    : [];

/** What events say was changed. */
const changedBy = (messages: readonly OutboxMessage[]) => {
  const features = new Set<string>();
  const segments = new Set<number>();
  const projects = new Set<string>();
  for (const { payload } of messages) {
    const { type, project, featureName, data, preData } = payload as Told;
    if (harmless.has(type)) continue;
    if (featureName !== null) features.add(featureName);
    if (type.startsWith('segment-')) for (const id of [...idOf(data), ...idOf(preData)]) segments.add(id);
    if (type === 'project-environment-removed' && project !== null) projects.add(project);
  }
  return { features: [...features], segments: [...segments], projects: [...projects] };
};

/** Hears what becomes of features and segments, so that schedules that collide with it are held up long before their time. */
export const followFeatures = (
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'warn' | 'logError' | 'onCommitted'>,
): Promise<Projection> =>
  startProjection({
    ...options,
    consumer: 'change-requests',
    producer: 'features',
    topic: 'event',
    apply: (tx, messages) => touchSchedules(tx, changedBy(messages)),
  });
