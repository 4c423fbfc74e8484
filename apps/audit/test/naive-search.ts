import type { Caller, RecordedEvent, SearchEventsBody } from '@bunting/contracts';

/** An event and the id that the log should have given it. */
export interface NumberedEvent {
  readonly id: number;
  readonly event: RecordedEvent;
}

const texts = (value: unknown): string[] => {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap(texts);
  if (typeof value === 'object')
    return Object.entries(value as object).flatMap(([key, member]) => [key, ...texts(member)]);
  return [String(value)];
};

/** The search of the interface, said once more in the plainest way: over a list, event by event. */
export const naiveSearch = (
  log: readonly NumberedEvent[],
  { type, project, feature, query = '', limit = 100, offset = 0 }: SearchEventsBody,
  { grants, hiddenProjects = [] }: Caller,
): { ids: number[]; totalEvents: number } => {
  const isAdmin = grants.some(({ permission }) => permission === 'ADMIN');
  const matching = log.filter(({ event }) => {
    const searched = [
      event.type,
      event.createdBy,
      ...texts(event.data),
      ...texts(event.preData),
      ...event.tags.map((tag) => `${tag.type}:${tag.value}`),
    ];
    return (
      (event.project === null ? isAdmin : !hiddenProjects.includes(event.project)) &&
      (type === undefined || event.type === type) &&
      (project === undefined || event.project === project) &&
      (feature === undefined || event.featureName === feature) &&
      searched.some((text) => text.toLowerCase().includes(query.toLowerCase()))
    );
  });
  const page = matching.filter(({ id }) => offset === 0 || id <= offset).toSorted((one, other) => other.id - one.id);
  return { ids: page.slice(0, limit).map(({ id }) => id), totalEvents: matching.length };
};
