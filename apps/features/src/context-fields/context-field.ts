import {
  type CreateContextFieldBody,
  type EventType,
  isEqualContent,
  type LegalValue,
  limitExceeded,
  maxLegalValues,
  type UpdateContextFieldBody,
} from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';
import { requireUrlFriendlyName, type Referrer, requireUnused } from '../names.ts';
import { invalidPropertyValue } from '../refusals.ts';

/** A field of the context in which flags are evaluated. */
export interface StoredContextField {
  readonly name: string;
  readonly description: string | null;
  readonly stickiness: boolean;
  readonly sortOrder: number;
  /** the only values that constraints may use; empty: any value */
  readonly legalValues: readonly LegalValue[];
}

function requireDistinctValues(legalValues: readonly LegalValue[], path: string): void {
  const values = new Set<string>();
  for (const [index, { value }] of legalValues.entries()) {
    if (values.has(value)) throw invalidPropertyValue('be listed once', `${path}/legalValues/${index}/value`, value);
    values.add(value);
  }
}

/** The field with the content of a request: omitted properties are empty, except the sort order. */
function contentFrom(
  { name, sortOrder }: Pick<StoredContextField, 'name' | 'sortOrder'>,
  body: UpdateContextFieldBody,
  path = '/body',
): StoredContextField {
  const legalValues = body.legalValues ?? [];
  requireDistinctValues(legalValues, path);
  return {
    name,
    description: body.description ?? null,
    stickiness: body.stickiness ?? false,
    sortOrder: body.sortOrder ?? sortOrder,
    legalValues: legalValues.map(({ value, description }) =>
      description === undefined || description === null ? { value } : { value, description },
    ),
  };
}

/** A context field after a change, and its events. An unchanged field is returned as is, without events. */
export interface ContextFieldDecision<Type extends EventType = EventType> {
  readonly field: StoredContextField;
  readonly events: readonly DomainEvent<Type>[];
}

/** A new context field. Whether its name is free is not decided here. @param path the JSON pointer of the field in the request */
export function newContextField(
  { name, ...body }: CreateContextFieldBody,
  path = '/body',
): ContextFieldDecision<'context-field-created'> {
  requireUrlFriendlyName(name, `${path}/name`);
  const field = contentFrom({ name, sortOrder: 0 }, body, path);
  return { field, events: [{ type: 'context-field-created', data: field }] };
}

/** Updates a context field. Omitted properties are cleared, except the sort order. */
export function updateContextField(before: StoredContextField, body: UpdateContextFieldBody): ContextFieldDecision {
  const after = contentFrom(before, body);
  return isEqualContent(after, before)
    ? { field: before, events: [] }
    : { field: after, events: [{ type: 'context-field-updated', data: after, preData: before }] };
}

/** Adds a legal value to a field, or replaces the one with the same value. */
export function setLegalValue(field: StoredContextField, legalValue: LegalValue): ContextFieldDecision {
  const exists = field.legalValues.some(({ value }) => value === legalValue.value);
  if (!exists && field.legalValues.length >= maxLegalValues) throw limitExceeded('legal value', maxLegalValues);
  const legalValues = exists
    ? field.legalValues.map((other) => (other.value === legalValue.value ? legalValue : other))
    : [...field.legalValues, legalValue];
  return updateContextField(field, { ...field, legalValues });
}

export function removeLegalValue(field: StoredContextField, value: string): ContextFieldDecision {
  return updateContextField(field, {
    ...field,
    legalValues: field.legalValues.filter((other) => other.value !== value),
  });
}

/** Deletes a context field that no constraint uses. Returns the event. */
export function deleteContextField(
  field: StoredContextField,
  referrers: readonly Referrer[],
  hidden: readonly string[],
): DomainEvent {
  requireUnused(`Context field ${field.name}`, referrers, hidden);
  return { type: 'context-field-deleted', preData: field };
}
