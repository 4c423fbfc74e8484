import { changeRequestStates, isClosedState } from '@bunting/contracts';
import { isPending, pendingStates } from '../domain/content/pending-states.ts';

/** A list of texts as SQL, such as `('Draft', 'Approved')`. */
export const sqlList = (texts: readonly string[]): string => `(${texts.map((text) => `'${text}'`).join(', ')})`;

const openButNotPending = changeRequestStates.filter((state) => !isClosedState(state) && !isPending({ state }));

/** SQL: whether the state of a row is pending. A statement must use this exact text to match the partial indexes. */
export const isPendingSql = `state in ${sqlList(pendingStates)}`;

/** SQL: whether a request is open: pending or scheduled, and not closed. Two conditions, because each has a partial index. */
export const isOpenSql = `(request.${isPendingSql} or request.state in ${sqlList(openButNotPending)})`;

/** SQL: whether a user may see a request: a draft is visible to its author only. */
export const isVisibleSql = (user: '$1' | '$2'): string =>
  `(request.state <> 'Draft' or request.created_by_id = ${user})`;

/** SQL: whether a request accepts changes. @param draftOnly whether only a draft counts */
export const acceptsChangesSql = (draftOnly: '$1' | '$4'): string =>
  `request.${isPendingSql} and (request.state = 'Draft' or not ${draftOnly}) and request.applying is null`;

/** SQL: the ids that the property `segments` in the payload of a change of a strategy lists, as a set of texts. */
export const segmentsOfStrategySql = `json_array_elements_text(
  case when json_typeof(change.payload -> 'segments') = 'array' then change.payload -> 'segments' else '[]' end)`;
