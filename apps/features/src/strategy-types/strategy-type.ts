import { type CreateStrategyTypeBody, isEqualContent, refusal, type UpdateStrategyTypeBody } from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';
import { requireUnreservedName, type Referrer, requireUnused } from '../names.ts';
import { emptyValue, invalidPropertyValue } from '../refusals.ts';

/** A type of strategies: a built-in one, or a custom one that the users' SDKs must implement. */
export interface StoredStrategyType {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly parameters: readonly Readonly<Record<string, unknown>>[];
  readonly builtIn: boolean;
  readonly deprecated: boolean;
}

/** A type of strategies as clients see it. */
export function publicStrategyType({ builtIn, parameters, ...type }: StoredStrategyType) {
  return {
    ...type,
    displayName: type.title ?? type.name,
    editable: !builtIn,
    parameters: [...parameters],
  };
}

/** The type with the content of a request: parameters without duplicates, with all defaults. */
function contentFrom(before: StoredStrategyType, body: UpdateStrategyTypeBody): StoredStrategyType {
  const names = new Set<string>();
  for (const [index, { name }] of body.parameters.entries()) {
    requireUnreservedName(name, `/body/parameters/${index}/name`);
    if (names.has(name)) throw invalidPropertyValue('be listed once', `/body/parameters/${index}/name`, name);
    names.add(name);
  }
  return {
    ...before,
    title: body.title === undefined ? before.title : body.title,
    description: body.description === undefined ? before.description : body.description,
    parameters: body.parameters.map(({ name, type = 'string', description = '', required = false }) => ({
      name,
      type,
      description,
      required,
    })),
  };
}

/** A strategy type after a change, and its events. An unchanged type is returned as is, without events. */
export interface StrategyTypeDecision {
  readonly type: StoredStrategyType;
  readonly events: readonly DomainEvent[];
}

/** A new strategy type. Whether its name is free is not decided here. */
export function newStrategyType({ name, ...content }: CreateStrategyTypeBody): StrategyTypeDecision {
  if (name.trim() === '') throw emptyValue('/body/name');
  requireUnreservedName(name, '/body/name');
  // URLs drop these parts of a path: no request could name the type.
  if (name === '.' || name === '..') throw invalidPropertyValue('be neither `.` nor `..`', '/body/name', name);
  const emptyContent = { title: null, description: null, parameters: [], builtIn: false, deprecated: false };
  const type = contentFrom({ name, ...emptyContent }, content);
  return { type, events: [{ type: 'strategy-created', data: publicStrategyType(type) }] };
}

function requireEditable({ name, builtIn }: StoredStrategyType): void {
  if (builtIn) throw refusal('OperationDeniedError', `Cannot edit strategy ${name}`);
}

/** Updates a custom strategy type. An omitted title or description stays; the parameters are replaced. */
export function updateStrategyType(before: StoredStrategyType, body: UpdateStrategyTypeBody): StrategyTypeDecision {
  requireEditable(before);
  const after = contentFrom(before, body);
  return isEqualContent(after, before)
    ? { type: before, events: [] }
    : { type: after, events: [{ type: 'strategy-updated', data: publicStrategyType(after) }] };
}

/**
 * Deprecates a strategy type, or reactivates it. Existing strategies keep a deprecated type, which is not offered for new ones. Built-in
 * types can be deprecated, too.
 */
export function setDeprecated(before: StoredStrategyType, deprecated: boolean): StrategyTypeDecision {
  if (before.deprecated === deprecated) return { type: before, events: [] };
  const type = deprecated ? 'strategy-deprecated' : 'strategy-reactivated';
  return { type: { ...before, deprecated }, events: [{ type, data: { name: before.name } }] };
}

/** Deletes a custom strategy type that no feature uses. Returns the event. */
export function deleteStrategyType(
  type: StoredStrategyType,
  referrers: readonly Referrer[],
  hidden: readonly string[],
): DomainEvent {
  requireEditable(type);
  requireUnused(`Strategy ${type.name}`, referrers, hidden);
  return { type: 'strategy-deleted', data: { name: type.name } };
}
