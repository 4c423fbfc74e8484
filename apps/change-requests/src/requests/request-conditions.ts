import { changeRequestStates, isClosedState } from '@bunting/contracts';
import { isPending, pendingStates } from '../proposals/content.ts';
import { actionsWith, type PayloadReference } from '../proposals/proposed-change.ts';
/** A list of texts as SQL, such as `('Draft', 'Approved')`. */
export function sqlList(texts: readonly string[]): string {
  return `(${texts.map((text) => `'${text}'`).join(', ')})`;
}

const openButNotPending = changeRequestStates.filter((state) => !isClosedState(state) && !isPending({ state }));

/** SQL: whether the state of a row is pending. A statement must use this exact text to match the partial indexes. */
export const isPendingSql = `state in ${sqlList(pendingStates)}`;

/** SQL: whether a request is open: pending or scheduled, and not closed. Two conditions, because each has a partial index. */
export const isOpenSql = `(request.${isPendingSql} or request.state in ${sqlList(openButNotPending)})`;

/** SQL: whether a user may see a request: a draft is visible to its author only. */
export function isVisibleSql(user: '$1' | '$2'): string {
  return `(request.state <> 'Draft' or request.created_by_id = ${user})`;
}

/** SQL: whether a request accepts changes. @param draftOnly whether only a draft counts */
export function acceptsChangesSql(draftOnly: '$1' | '$4'): string {
  return `request.${isPendingSql} and (request.state = 'Draft' or not ${draftOnly}) and request.applying is null`;
}

/** SQL: whether the payload of a change has a reference. */
export function hasReferenceSql(reference: PayloadReference): string {
  const actions = actionsWith(reference);
  return `change.action ${actions.length === 1 ? `= '${actions[0]}'` : `in ${sqlList(actions)}`}`;
}

/** SQL: whether a change makes one of the features the parent of another. */
export function hasParentSql(features: '$1' | '$2'): string {
  return `${hasReferenceSql('parent')} and change.payload ->> 'feature' = any (${features}::text[])`;
}

/** SQL: the ids that the property `segments` in the payload of a change of a strategy lists, as a set of texts. */
export const segmentsOfStrategySql = `json_array_elements_text(
  case when json_typeof(change.payload -> 'segments') = 'array' then change.payload -> 'segments' else '[]' end)`;

/** SQL: the id of the strategy whose segments a change sets; null for a new strategy. */
export const idOfStrategyWithSegmentsSql = `case change.action ${actionsWith('segments', 'strategy')
  .map((action) => `when '${action}' then change.payload ->> 'id'`)
  .join(' ')} end`;
