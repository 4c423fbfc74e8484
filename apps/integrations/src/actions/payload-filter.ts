import { isJsonObject, type PayloadFilter } from '@bunting/contracts';
import { compileConstraint } from '@bunting/evaluation';

export type Filters = Readonly<Record<string, PayloadFilter>>;

const index = /^\[(0|[1-9][0-9]{0,5})\]/;

/**
 * The text, number or truth value at a path such as `alerts[0].labels.severity`, as text. Names may have dots: of the members whose names begin the
 * path, the first with a value counts.
 */
export function valueAt(payload: unknown, path: string): string | undefined {
  if (path === '') {
    if (typeof payload === 'string') return payload;
    return typeof payload === 'number' || typeof payload === 'boolean' ? String(payload) : undefined;
  }
  if (Array.isArray(payload)) {
    const matched = index.exec(path);
    if (matched === null) return undefined;
    return valueAt(payload[Number(matched[1])], afterSeparator(path.slice(matched[0].length)));
  }
  if (!isJsonObject(payload)) return undefined;
  for (const [name, member] of Object.entries(payload)) {
    if (name === '' || !path.startsWith(name)) continue;
    const rest = path.slice(name.length);
    if (rest !== '' && !rest.startsWith('.') && !rest.startsWith('[')) continue;
    const value = valueAt(member, afterSeparator(rest));
    if (value !== undefined) return value;
  }
  return undefined;
}

function afterSeparator(rest: string): string {
  return rest.startsWith('.') ? rest.slice(1) : rest;
}

/** Whether all filters hold for a signal, each as a constraint on the value at its path. */
export function matches(filters: Filters, payload: unknown, now: Date): boolean {
  return Object.entries(filters).every(([path, filter]) => {
    const value = valueAt(payload, path);
    // Constraints on dates compare the field `currentTime`, and without it the time of the evaluation, which is not in the signal.
    if (filter.operator.startsWith('DATE_') && value === undefined) return filter.inverted === true;
    const fields = new Map(value === undefined ? [] : [['value', value] as const, ['currentTime', value] as const]);
    return compileConstraint({ ...filter, contextName: 'value' })({ fields, now, random: () => 0 });
  });
}
