import { describe, expect, it } from 'vitest';
import type { FeatureStrategy } from '@bunting/contracts';
import {
  strategyDraftOf,
  newStrategyDraft,
  parseStrategyDraft,
  strategyFingerprint,
  strategyBodyOf,
  strategyUpdateOf,
} from './strategy-draft.ts';

const strategy: FeatureStrategy = {
  id: 'a',
  name: 'flexibleRollout',
  title: null,
  parameters: { rollout: '20', stickiness: 'userId', groupId: 'checkout' },
  constraints: [{ contextName: 'country', operator: 'IN', values: ['no'] }],
  segments: [2, 1],
  sortOrder: 3,
};

describe('a strategy that is edited', () => {
  it('is sent without the title and parameters that it has no more, by empty texts', () => {
    const body = { name: 'custom', title: null, parameters: { kept: '1' } };
    expect(strategyUpdateOf(body, { name: 'custom', parameters: { kept: '0', gone: '2' } })).toEqual({
      name: 'custom',
      title: '',
      parameters: { kept: '1', gone: '' },
    });
    expect(strategyUpdateOf(body, { name: 'other', parameters: { theirs: '2' } }).parameters).toEqual({ kept: '1' });
  });

  it('comes back as it was when nothing was edited', () => {
    const { id: _, sortOrder: __, ...stored } = strategy;
    expect(strategyBodyOf(strategyDraftOf(strategy))).toEqual({ ...stored, disabled: false, variants: [] });
  });

  it('is the same as JSON and as a form', () => {
    const draft = strategyDraftOf(strategy);
    expect(parseStrategyDraft(JSON.stringify(draft))).toEqual(draft);
    expect(parseStrategyDraft('{"name":"default"}')).toEqual({
      ...newStrategyDraft('x'),
      name: 'default',
      parameters: {},
    });
  });

  it.each([
    ['[]', 'is an object'],
    ['null', 'is an object'],
    ['{}', '`name`'],
    ['{"name":"default","disabled":"yes"}', '`disabled`'],
    ['{"name":"default","constraints":[{}]}', '`constraints`'],
    ['{"name":"default","segments":["beta"]}', '`segments`'],
    ['{"name":"default","variants":7}', '`variants`'],
    ['{"name":"default","parameters":[]}', '`parameters`'],
    ['{', 'JSON'],
  ])('is refused as %s with a sentence', (text, sentence) => {
    expect(() => parseStrategyDraft(text)).toThrow(sentence);
  });
});

describe('strategies of two environments', () => {
  it('are the same whatever their ids, titles, places and the order of their segments', () => {
    const other = { ...strategy, id: 'b', title: 'Norway', sortOrder: 0, segments: [1, 2] };
    expect(strategyFingerprint(other)).toBe(strategyFingerprint(strategy));
    expect(strategyFingerprint({ ...other, parameters: { ...other.parameters, rollout: '21' } })).not.toBe(
      strategyFingerprint(strategy),
    );
  });
});
