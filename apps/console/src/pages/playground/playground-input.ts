import type { PlaygroundTableBody } from '@bunting/contracts';
import type { SearchParameters } from '../../filtering/search-parameter.ts';
import { parseContext } from './context-text.ts';

const maxContexts = 50;
const maxQueryLength = 100;

/** What is evaluated, as the search parameters of the URL choose it. */
export interface PlaygroundInput {
  readonly environments: readonly string[];
  /** empty for all projects */
  readonly projects: readonly string[];
  /** the only flag that is evaluated, if any */
  readonly flag: string | undefined;
  /** the change request whose effect is compared, if any */
  readonly changeRequest: number | undefined;
  /** whether only flags that the change request concerns are evaluated */
  readonly onlyConcerned: boolean;
}

const namesIn = (value: string | undefined): string[] => (value ?? '').split(',').filter((name) => name !== '');

/** The input that search parameters stand for. Without the parameter `environments`, it has every enabled environment. */
export const playgroundInputOf = (search: SearchParameters, enabled: readonly string[]): PlaygroundInput => ({
  environments:
    search['environments'] === undefined
      ? enabled
      : enabled.filter((name) => namesIn(search['environments']).includes(name)),
  projects: namesIn(search['projects']),
  flag: search['flag'],
  changeRequest: /^[1-9]\d{0,9}$/.test(search['changeRequest'] ?? '') ? Number(search['changeRequest']) : undefined,
  onlyConcerned: search['concerned'] !== 'false',
});

/** The request body that evaluates the input. @param query a part of the names of flags @param contexts one context on each line */
export const playgroundTableBody = (input: PlaygroundInput, query: string, contexts: string): PlaygroundTableBody => {
  const { environments, projects, flag, changeRequest, onlyConcerned } = input;
  const lines = contexts.split('\n').slice(0, maxContexts);
  const nonEmptyContexts = lines
    .map((line) => parseContext(line).context)
    .filter((context) => Object.keys(context).length > 0);
  const nameText = query.trim().slice(0, maxQueryLength);
  return {
    environments: [...environments],
    contexts: nonEmptyContexts.length === 0 ? [{}] : nonEmptyContexts,
    ...(projects.length === 0 ? {} : { projects: [...projects] }),
    ...(flag === undefined ? {} : { features: [flag] }),
    ...(nameText === '' ? {} : { query: nameText }),
    ...(changeRequest === undefined ? {} : { changeRequest, onlyConcerned: onlyConcerned && flag === undefined }),
  };
};

interface ResultsOfFlag {
  /** by environment, one result for each context; `proposed` is set only where the change request changes the result */
  readonly environments: Readonly<
    Record<string, readonly { readonly isEnabled: boolean; readonly proposed?: unknown }[]>
  >;
}

/** The number of results that the change request changes. */
export const countChangedResults = (flags: readonly ResultsOfFlag[]): number =>
  flags
    .flatMap(({ environments }) => Object.values(environments).flat())
    .filter(({ proposed }) => proposed !== undefined).length;
