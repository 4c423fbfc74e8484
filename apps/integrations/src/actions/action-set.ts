import {
  type Action,
  type ActionKind,
  actionKinds,
  type ActionSet,
  type ActionSetBody,
  type EventContent,
  type ExecutedAction,
  invalid,
  invalidProperties,
  maxFilters,
  operandError,
  operandOf,
  Tag,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { Filters } from './payload-filter.ts';

const maxPathLength = 200;
const maxParameterLength = 255;

/** An action with the texts that it needs, and no others. */
interface ActionToStore {
  readonly action: ActionKind;
  readonly sortOrder: number;
  readonly executionParams: Readonly<Record<string, string>>;
}

/** An action set to store. */
export type ActionSetToStore = Pick<ActionSet, 'name' | 'description' | 'enabled' | 'actorId' | 'project'> & {
  readonly endpointId: number;
  readonly filters: Filters;
  readonly actions: readonly ActionToStore[];
};

/** The action set that a request describes. @throws Refusal `ValidationError` */
export function actionSetFrom(body: ActionSetBody, project: string): ActionSetToStore {
  const { name, description = '', enabled, actorId, match } = body;
  const filters = filtersFrom(match.payload);
  const actions = body.actions
    .map((action, nth) => ({ ...action, sortOrder: action.sortOrder ?? nth, nth }))
    .toSorted((one, other) => one.sortOrder - other.sortOrder)
    .map(({ action, sortOrder, executionParams, nth }) => ({
      action,
      sortOrder,
      executionParams: textsOf(action, executionParams, project, `/body/actions/${nth}/executionParams`),
    }));
  return { name, description, enabled, actorId, project, endpointId: match.sourceId, filters, actions };
}

/** The filters, each with the operand that its operator takes, and no other. */
function filtersFrom(filters: Filters): Filters {
  if (Object.keys(filters).length > maxFilters)
    throw invalid(
      `The \`/body/match/payload\` property must have at most ${maxFilters} conditions.`,
      '/body/match/payload',
    );
  for (const [path, filter] of Object.entries(filters)) {
    if (path === '' || path.length > maxPathLength)
      throw invalid(
        `The \`/body/match/payload\` property has a path that is empty, or longer than ${maxPathLength} characters.`,
        '/body/match/payload',
      );
    const error = operandError({ ...filter, contextName: path }, `/body/match/payload/${path}`);
    if (error !== undefined) throw invalidProperties([error]);
  }
  return Object.fromEntries(
    Object.entries(filters).map(([path, { value = '', values = [], ...filter }]) => {
      const operand = operandOf[filter.operator] === 'values' ? { values } : { value };
      return [path, { ...filter, ...operand }];
    }),
  );
}

function textsOf(
  action: ActionKind,
  given: Readonly<Record<string, unknown>>,
  project: string,
  path: string,
): Readonly<Record<string, string>> {
  // Unleash sends the project with the other parameters.
  if (given['project'] !== undefined && given['project'] !== project)
    throw invalid(`The \`${path}/project\` property must be the project of the actions.`, `${path}/project`);
  const texts = Object.fromEntries(
    actionKinds[action].needs.map((name) => {
      const value = given[name];
      if (typeof value !== 'string' || value.trim() === '' || value.length > maxParameterLength)
        throw invalid(
          `The \`${path}/${name}\` property must be a text of 1 to ${maxParameterLength} characters.`,
          `${path}/${name}`,
        );
      return [name, value];
    }),
  );
  if (action === 'TAG_FEATURE') parse(Tag, { type: texts['type'], value: texts['value'] }, path);
  return texts;
}

/** The actions of a run that has not begun. */
export function notStarted(actions: readonly Action[]): ExecutedAction[] {
  return actions.map((action) => ({ ...action, state: 'not started' }));
}

/** A run that has ended, as the event log describes it. */
export interface EndedRun {
  readonly project: string;
  readonly actionSetId: number;
  readonly name: string;
  readonly signalId: number;
  readonly signalEndpoint: string;
  readonly actions: readonly ExecutedAction[];
}

/** The event of a run that has ended: it names the set, the signal, and what has become of each action. */
export function runEvent({ project, actions, ...run }: EndedRun): EventContent {
  const failed = actions.find(({ state }) => state === 'failed');
  return {
    type: failed === undefined ? 'actions-run-succeeded' : 'actions-run-failed',
    project,
    data: {
      ...run,
      actions: actions.map(({ action, executionParams, state, details }) => ({
        action,
        executionParams,
        state,
        ...(details === undefined ? {} : { details }),
      })),
      ...(failed === undefined ? {} : { reason: failed.details ?? '' }),
    },
  };
}

/** The event of a created, updated or deleted action set. */
export function actionSetEvent({
  before,
  after,
}: {
  readonly before?: ActionSet;
  readonly after?: ActionSet;
}): EventContent {
  const kind = before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated';
  return {
    type: `actions-${kind}`,
    project: (after ?? before)?.project ?? null,
    data: after ?? null,
    preData: before ?? null,
  };
}
