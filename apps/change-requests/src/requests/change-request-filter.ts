import { type RequestOf, type SearchChangeRequests } from '@bunting/contracts';
import {
  invalidParameter,
  type Parameter,
  parameterParser,
  parseId,
  splitOperator,
} from '@bunting/contracts/validation';
const requestedStates = ['open', 'closed', 'scheduled'] as const;
/** Which requests a search finds by their state; scheduled ones are open as well. */
type RequestedState = (typeof requestedStates)[number];

/** The filter of a search. An undefined property matches every request. */
export interface ChangeRequestFilter {
  readonly project: string | undefined;
  readonly createdBy: number | undefined;
  readonly requestedApprover: number | undefined;
  readonly state: RequestedState | undefined;
}

function parseProject(parameter: Parameter): string {
  return splitOperator(parameter, ['IS'])[1];
}

function parseUserId(parameter: Parameter): number {
  const id = parseId(splitOperator(parameter, ['IS'])[1]);
  if (id === undefined || id < 0) throw invalidParameter(parameter, 'end with the id of a user');
  return id;
}

function parseState(parameter: Parameter): RequestedState {
  const [, text] = splitOperator(parameter, ['IS']);
  const state = requestedStates.find((known) => known === text);
  if (state === undefined) throw invalidParameter(parameter, 'end with open, closed or scheduled');
  return state;
}

/** Parses the filters `IS:<value>` of a search. @throws Refusal `ValidationError` that names the parameter */
export function parseChangeRequestFilter({
  project,
  createdBy,
  requestedApproverId,
  state,
}: RequestOf<typeof SearchChangeRequests>['query']): ChangeRequestFilter {
  const read = parameterParser({ project, createdBy, requestedApproverId, state });
  return {
    project: read('project', parseProject),
    createdBy: read('createdBy', parseUserId),
    requestedApprover: read('requestedApproverId', parseUserId),
    state: read('state', parseState),
  };
}
