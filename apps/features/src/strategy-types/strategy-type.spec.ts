import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../test/builders.ts';
import {
  deleteStrategyType,
  newStrategyType,
  publicStrategyType,
  setDeprecated,
  updateStrategyType,
} from './strategy-type.ts';

const { type: byCountry, events: created } = newStrategyType({
  name: 'byCountry',
  title: 'By country',
  parameters: [{ name: 'countries' }],
});
const builtIn = { ...byCountry, name: 'default', builtIn: true };

describe('a new strategy type', () => {
  it('can be edited, is not deprecated, and has parameters with all their properties', () => {
    expect(publicStrategyType(byCountry)).toEqual({
      name: 'byCountry',
      displayName: 'By country',
      title: 'By country',
      description: null,
      editable: true,
      deprecated: false,
      parameters: [{ name: 'countries', type: 'string', description: '', required: false }],
    });
  });

  it('is emitted as clients see it', () => {
    expect(created).toEqual([{ type: 'strategy-created', data: publicStrategyType(byCountry) }]);
  });

  it('needs a name, and lists a parameter once', () => {
    expect(refusalOf(() => newStrategyType({ name: ' ', parameters: [] })).message).toContain('`/body/name`');
    const twice = { name: 'byCountry', parameters: [{ name: 'a' }, { name: 'a' }] };
    expect(refusalOf(() => newStrategyType(twice)).message).toContain('`/body/parameters/1/name`');
  });
});

describe('a strategy type', () => {
  it('has a name that an address can have', () => {
    for (const name of ['.', '..'])
      expect(refusalOf(() => newStrategyType({ name, parameters: [] }))).toMatchObject({
        name: 'ValidationError',
        message: expect.stringContaining('`/body/name` property must be neither `.` nor `..`'),
      });
    expect(newStrategyType({ name: '...', parameters: [] }).type.name).toBe('...');
  });

  it('keeps an omitted title, and its parameters are replaced', () => {
    const { type, events } = updateStrategyType(byCountry, { parameters: [] });
    expect(type).toEqual({ ...byCountry, parameters: [] });
    expect(events).toEqual([{ type: 'strategy-updated', data: publicStrategyType(type) }]);
  });

  it('that is updated to the same content emits nothing', () => {
    expect(updateStrategyType(byCountry, { parameters: [{ name: 'countries' }] })).toEqual({
      type: byCountry,
      events: [],
    });
  });

  it('is deprecated and reactivated, each with an event unless it is so already', () => {
    const deprecated = setDeprecated(byCountry, true);
    expect(deprecated).toEqual({
      type: { ...byCountry, deprecated: true },
      events: [{ type: 'strategy-deprecated', data: { name: 'byCountry' } }],
    });
    expect(setDeprecated(deprecated.type, true).events).toEqual([]);
    expect(setDeprecated(deprecated.type, false).events).toMatchObject([{ type: 'strategy-reactivated' }]);
  });

  it('that features use cannot be deleted', () => {
    expect(deleteStrategyType(byCountry, [], [])).toEqual({ type: 'strategy-deleted', data: { name: 'byCountry' } });
    const refused = refusalOf(() => deleteStrategyType(byCountry, [{ name: 'checkout', project: 'shop' }], []));
    expect(refused).toMatchObject({ kind: 'ConflictError', message: 'Strategy byCountry is in use by checkout' });
  });

  it('that is built in can be deprecated, but neither updated nor deleted', () => {
    const denied = { kind: 'OperationDeniedError', message: 'Cannot edit strategy default' };
    expect(refusalOf(() => updateStrategyType(builtIn, { parameters: [] }))).toMatchObject(denied);
    expect(refusalOf(() => deleteStrategyType(builtIn, [], []))).toMatchObject(denied);
    expect(setDeprecated(builtIn, true).events).toHaveLength(1);
  });
});
