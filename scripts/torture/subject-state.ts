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

const markOf = ({ data }: Event): string => {
  const { title, value, description } = (data ?? {}) as Record<string, unknown>;
  return String(title ?? value ?? description ?? '');
};

/** An event as its type and the value that distinguishes it from others of its type. */
export const eventKey = (event: Event): string => `${event.type} ${markOf(event)}`.trim();

/** Events of the change-requests service: between two producers there is no order. */
export const isChangeRequestEvent = (spelling: string): boolean => spelling.startsWith('change-');
