import { type RequestOf, type SearchChangeRequests } from '@bunting/contracts';
import {
  invalidParameter,
  type Parameter,
  parameterParser,
  parseId,
  splitOperator,
} from '@bunting/contracts/validation';
/** The filter of a search. An undefined property matches every request. */
export interface ChangeRequestFilter {
  readonly createdBy: number | undefined;
  readonly requestedApprover: number | undefined;
  readonly isOpen: boolean | undefined;
}

function parseUserId(parameter: Parameter): number {
  const id = parseId(splitOperator(parameter, ['IS'])[1]);
  if (id === undefined || id < 0) throw invalidParameter(parameter, 'end with the id of a user');
  return id;
}

function parseIsOpen(parameter: Parameter): boolean {
  const [, state] = splitOperator(parameter, ['IS']);
  if (state !== 'open' && state !== 'closed') throw invalidParameter(parameter, 'end with open or closed');
  return state === 'open';
}

/** Parses the filters `IS:<value>` of a search. @throws Refusal `ValidationError` that names the parameter */
export function parseChangeRequestFilter({
  createdBy,
  requestedApproverId,
  state,
}: RequestOf<typeof SearchChangeRequests>['query']): ChangeRequestFilter {
  const read = parameterParser({ createdBy, requestedApproverId, state });
  return {
    createdBy: read('createdBy', parseUserId),
    requestedApprover: read('requestedApproverId', parseUserId),
    isOpen: read('state', parseIsOpen),
  };
}
