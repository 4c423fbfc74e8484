import { describe, expect, it } from 'vitest';
import type { FeatureStrategy } from '../strategies/strategies.ts';
import { changeActions } from './change.ts';
import { changeSentence, saysEverything } from './change-sentence.ts';

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

  it('says which list of a segment another one replaces, and in how many ids they differ', () => {
    const payload = { id: 7, contextName: 'userId', root: 'a'.repeat(64), size: 12180, added: 300, removed: 120 };
    const sentenceOf = (replaced: object | null) =>
      changeSentence(
        { action: 'updateSegmentList', payload: { ...payload, replaced } },
        { ...known, segmentNames: new Map([[7, 'Beta']]) },
      );
    expect(sentenceOf({ contextName: 'userId', size: 12000, version: 6 })).toEqual({
      sentence: 'Replace the list of the segment Beta: 300 added, 120 removed',
      before: '12,000 ids of userId (version 6)',
      after: '12,180 ids of userId',
    });
    expect(sentenceOf(null)).toMatchObject({ sentence: 'Give the segment Beta a list', before: 'no list' });
    const removal = { id: 7, contextName: null, root: null, size: 0, added: 0, removed: 12000 };
    const replaced = { contextName: 'userId', size: 12000, version: 6 };
    expect(
      changeSentence(
        { action: 'updateSegmentList', payload: { ...removal, replaced } },
        { ...known, segmentNames: new Map([[7, 'Beta']]) },
      ),
    ).toEqual({
      sentence: 'Remove the list of the segment Beta: it no longer limits whom the segment matches',
      before: '12,000 ids of userId (version 6)',
      after: 'no list: everybody who satisfies the constraints of the segment',
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

describe('what the sentence of a change leaves out', () => {
  const whole = (action: string, payload: object) => saysEverything({ action, payload }, 'checkout', known);
  const full = { id: 'a', name: 'flexibleRollout', parameters: { rollout: '50' }, constraints: [], segments: [] };
  const constrained = (values: string[]) => ({
    ...full,
    constraints: [{ contextName: 'country', operator: 'IN', values }],
  });

  it('is nothing for plain changes of switches, rollouts and constraints', () => {
    expect(whole('updateEnabled', { enabled: true })).toBe(true);
    expect(whole('archiveFeature', {})).toBe(true);
    expect(whole('updateStrategy', full)).toBe(true);
    expect(whole('updateStrategy', constrained(['no', 'se']))).toBe(true);
    expect(whole('addStrategy', full)).toBe(true);
    expect(whole('deleteStrategy', { id: 'a' })).toBe(true);
  });

  it.each([
    ['updateEnabled', { enabled: true, shouldActivateDisabledStrategies: true }],
    ['patchVariant', { variants: [] }],
    ['reorderStrategy', []],
    ['updateSegment', { name: 'a' }],
    ['updateSegmentList', { id: 7 }],
    ['deleteStrategy', { id: 'unknown' }],
    ['updateStrategy', { id: 'a', parameters: { rollout: '50' } }],
    ['updateStrategy', { ...full, parameters: { rollout: '25' } }],
    ['updateStrategy', { ...full, parameters: { rollout: '50', groupId: 'other' } }],
    ['updateStrategy', { ...full, disabled: false, snapshot: { ...strategy, disabled: true } }],
    ['updateStrategy', { ...full, variants: [{ name: 'a', weight: 1000 }] }],
    ['updateStrategy', { ...full, segments: [7] }],
    ['updateStrategy', constrained(['a', 'b', 'c', 'd', 'e'])],
    ['updateStrategy', constrained(['no or se'])],
    ['updateStrategy', constrained(['*a*'])],
    ['addStrategy', { name: 'own', parameters: { secret: 'x' } }],
    ['an action of a later version', {}],
  ])('is something for %s %j', (action, payload) => {
    expect(whole(action, payload)).toBe(false);
  });
});
