import { describe, expect, it } from 'vitest';
import type { FeatureStrategy } from '../strategies/strategies.ts';
import { changeActions } from './change.ts';
import { changeSentence } from './change-sentence.ts';

const strategy: FeatureStrategy = { name: 'flexibleRollout', parameters: { rollout: '25' } };
const known = { environment: 'production', strategies: { a: strategy }, segmentNames: new Map() };

describe('a proposed change in words', () => {
  it('says what an edited strategy was and what it would be', () => {
    const payload = { id: 'a', parameters: { rollout: '50' } };
    expect(changeSentence({ action: 'updateStrategy', payload }, known)).toEqual({
      sentence: 'Change a strategy',
      before: '25 % of users',
      after: '50 % of users',
    });
  });

  it('shows parameters that a change leaves out as they stay', () => {
    const snapshot = { ...strategy, parameters: { rollout: '10', stickiness: 'userId' } };
    const sentenceOf = (parameters: object) =>
      changeSentence({ action: 'updateStrategy', payload: { id: 'a', parameters, snapshot } }, known);
    expect(sentenceOf({ rollout: '50' })).toEqual(sentenceOf({ rollout: '50', stickiness: 'userId' }));
  });

  it('shows the snapshot of an applied request, not what the strategy is today', () => {
    const payload = {
      id: 'a',
      parameters: { rollout: '50' },
      snapshot: { ...strategy, parameters: { rollout: '10' } },
    };
    expect(changeSentence({ action: 'updateStrategy', payload }, known)).toMatchObject({
      before: '10 % of users',
      after: '50 % of users',
    });
  });

  it('says what variants and a segment were and what they would be', () => {
    const variants = [{ name: 'blue', weight: 400 }];
    const snapshot = { variants: [{ name: 'red', weight: 1000 }] };
    expect(changeSentence({ action: 'patchVariant', payload: { variants, snapshot } }, known)).toMatchObject({
      before: 'red (100 %)',
      after: 'blue (40 %)',
    });
    const nordic = { contextName: 'country', operator: 'IN', values: ['no'] };
    const payload = { id: 4, name: 'Nordic', snapshot: { name: 'North', constraints: [nordic] } };
    expect(changeSentence({ action: 'updateSegment', payload }, known)).toEqual({
      sentence: 'Change the segment Nordic',
      before: 'North: country is no',
      after: 'Nordic: country is no',
    });
  });

  it.each([
    ['updateEnabled', { enabled: true }, 'Turn on in production'],
    ['updateEnabled', { enabled: false }, 'Turn off in production'],
    ['archiveFeature', {}, 'Archive the flag, in every environment'],
    ['addDependency', { feature: 'parent' }, 'Let it depend on parent'],
    ['deleteStrategy', { id: 'unknown' }, 'Remove a strategy'],
    ['patchVariant', { variants: [] }, 'Remove all variants'],
    ['somethingNew', { x: 1 }, 'somethingNew'],
    ['constructor', {}, 'constructor'],
  ])('%s with %j is “%s”', (action, payload, sentence) => {
    expect(changeSentence({ action, payload }, known).sentence).toBe(sentence);
  });

  it('has a sentence for every action that a change request may hold, whatever its payload', () => {
    for (const action of changeActions)
      for (const payload of [{}, null, 7, [], { id: {} }, { variants: 'none' }, { snapshot: { constraints: [7] } }])
        expect(changeSentence({ action, payload }, known).sentence).not.toBe(action);
  });
});
