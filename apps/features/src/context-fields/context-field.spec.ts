import { maxLegalValues } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../test/builders.ts';
import {
  deleteContextField,
  removeLegalValue,
  setLegalValue,
  type StoredContextField,
  updateContextField,
} from './context-field.ts';

const region: StoredContextField = {
  name: 'region',
  description: 'where the user lives',
  stickiness: true,
  sortOrder: 3,
  legalValues: [{ value: 'north' }, { value: 'south', description: 'warm' }],
};

describe('an update of a context field', () => {
  it('clears omitted properties, except the sort order', () => {
    const after = { name: 'region', description: null, stickiness: false, sortOrder: 3, legalValues: [] };
    expect(updateContextField(region, {})).toEqual({
      field: after,
      events: [{ type: 'context-field-updated', data: after, preData: region }],
    });
  });

  it('with the same content emits nothing', () => {
    const same = { ...region, legalValues: [...region.legalValues] };
    expect(updateContextField(region, same)).toEqual({ field: region, events: [] });
  });

  it('lists a legal value once', () => {
    const twice = { legalValues: [{ value: 'north' }, { value: 'north' }] };
    expect(refusalOf(() => updateContextField(region, twice)).message).toContain('`/body/legalValues/1/value`');
  });
});

describe('a legal value', () => {
  it('is added after the others, or takes the place of the one with the same value', () => {
    const added = setLegalValue(region, { value: 'east' }).field.legalValues;
    expect(added).toEqual([...region.legalValues, { value: 'east' }]);
    const replaced = setLegalValue(region, { value: 'north', description: 'cold' }).field.legalValues;
    expect(replaced).toEqual([{ value: 'north', description: 'cold' }, region.legalValues[1]]);
  });

  it('that a field has already, or that it does not have, changes nothing', () => {
    expect(setLegalValue(region, { value: 'north' })).toEqual({ field: region, events: [] });
    expect(removeLegalValue(region, 'west')).toEqual({ field: region, events: [] });
  });

  it('that is removed leaves the others', () => {
    expect(removeLegalValue(region, 'north').field.legalValues).toEqual([region.legalValues[1]]);
  });

  it('beyond the limit is refused', () => {
    const legalValues = Array.from({ length: maxLegalValues }, (_, nth) => ({ value: String(nth) }));
    const full = { ...region, legalValues };
    expect(refusalOf(() => setLegalValue(full, { value: 'east' })).kind).toBe('ExceedsLimitError');
    expect(setLegalValue(full, { value: '7', description: 'lucky' }).events).toHaveLength(1);
  });
});

it('a context field that constraints use cannot be deleted', () => {
  expect(deleteContextField(region, [], [])).toEqual({ type: 'context-field-deleted', preData: region });
  const refused = refusalOf(() => deleteContextField(region, [{ name: 'checkout', project: 'shop' }], []));
  expect(refused).toMatchObject({ kind: 'ConflictError', message: 'Context field region is in use by checkout' });
});
