import type { ChangeRequest, Event, Feature } from '@bunting/contracts';

/** The state of a project or flag and its change request, reduced to what writers change. */
export interface Subject {
  readonly exists: boolean;
  readonly flag?: FlagSummary | 'archived';
  readonly request?: RequestSummary;
}

export interface FlagSummary {
  readonly description: string;
  readonly enabled: boolean;
  /** sorted */
  readonly tags: readonly string[];
  /** titles in development, in the order of their strategies */
  readonly titles: readonly string[];
}

export interface RequestSummary {
  readonly state: string;
  readonly changes: number;
  readonly comments: readonly string[];
}

/** The summary of a flag as the API returns it. */
export const flagSummary = ({ description, environments = [], tags }: Feature): Exclude<Subject['flag'], undefined> => {
  const development = environments.find(({ name }) => name === 'development');
  return {
    description: description ?? '',
    enabled: development?.enabled === true,
    tags: (tags ?? []).map(({ value }) => value).toSorted(),
    titles: (development?.strategies ?? []).map(({ title }) => title ?? ''),
  };
};

export const requestSummary = ({ state, features, comments }: ChangeRequest): RequestSummary => ({
  state,
  changes: features.reduce((sum, { changes }) => sum + changes.length, 0),
  comments: (comments ?? []).map(({ text }) => text),
});

/** The text that is unique to the write that emitted an event. */
const uniqueTextOf = ({ data }: Event): string => {
  const { title, value, description } = (data ?? {}) as Record<string, unknown>;
  return String(title ?? value ?? description ?? '');
};

/** The type of an event, and the text that distinguishes it from other events of this type. */
export const eventKey = (event: Event): string => `${event.type} ${uniqueTextOf(event)}`.trim();

/** Whether the change-requests service emits an event with this key. Events of different services have no common order. */
export const isChangeRequestEvent = (key: string): boolean => key.startsWith('change-');
