import { describe, expect, it } from 'vitest';
import { describeStrategyChange } from '../search/describe-strategy-change.ts';

const gradual = { name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'default', groupId: 'banner' } };
const changed = (before: unknown, after: unknown) => describeStrategyChange(before, after, 'production');
const start = 'by updating strategy **flexibleRollout** in **production**';

describe('The description of a changed strategy', () => {
  it('names the strategy by its title, or else by its type', () => {
    expect(changed(gradual, { ...gradual, title: 'Half of [Oslo]' })).toBe(
      'by updating strategy **Half of \\[Oslo\\]** in **production**',
    );
  });

  it('describes changes of stickiness, rollout and group, in this order', () => {
    const after = { ...gradual, parameters: { groupId: 'other', stickiness: 'userId', rollout: '25' } };
    expect(changed(gradual, after)).toBe(
      `${start} stickiness from default to userId; rollout from 50% to 25%; groupId from banner to other`,
    );
    expect(changed(gradual, { ...gradual, parameters: { ...gradual.parameters, rollout: '25' } })).toBe(
      `${start} rollout from 50% to 25%`,
    );
  });

  it('omits "from" for a value that was absent, and names a value that was removed', () => {
    expect(changed({ name: 'flexibleRollout' }, gradual)).toBe(
      `${start} stickiness to default; rollout to 50%; groupId to banner`,
    );
    expect(changed(gradual, { name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'default' } })).toBe(
      `${start} groupId from banner to nothing`,
    );
  });

  it.each([
    ['IN', 'is one of'],
    ['NOT_IN', 'is not one of'],
    ['STR_CONTAINS', 'is a string that contains'],
    ['STR_STARTS_WITH', 'is a string that starts with'],
    ['STR_ENDS_WITH', 'is a string that ends with'],
    ['NUM_EQ', 'is a number equal to'],
    ['NUM_GT', 'is a number greater than'],
    ['NUM_GTE', 'is a number greater than or equal to'],
    ['NUM_LT', 'is a number less than'],
    ['NUM_LTE', 'is a number less than or equal to'],
    ['DATE_BEFORE', 'is a date before'],
    ['DATE_AFTER', 'is a date after'],
    ['SEMVER_EQ', 'is a SemVer equal to'],
    ['SEMVER_GT', 'is a SemVer greater than'],
    ['SEMVER_LT', 'is a SemVer less than'],
    ['SEMVER_GTE', 'is a SemVer greater than or equal to'],
    ['SEMVER_LTE', 'is a SemVer less than or equal to'],
  ])('names the operator %s of a constraint in words: "%s"', (operator, words) => {
    const constraints = [{ contextName: 'x', operator, value: '1' }];
    expect(changed(gradual, { ...gradual, constraints })).toBe(
      `${start} constraints from empty set of constraints to [x ${words} 1]`,
    );
  });

  it('writes several values in parentheses, a single one without, and negations', () => {
    const constraints = [
      { contextName: 'country', operator: 'IN', values: ['NO', 'SE'], inverted: true },
      { contextName: 'app_version', operator: 'SEMVER_GT', value: '1.2.3', values: [] },
    ];
    expect(changed({ ...gradual, constraints }, { ...gradual, constraints: [] })).toBe(
      `${start} constraints from [country not is one of (NO,SE), app\\_version is a SemVer greater than 1.2.3] to empty set of constraints`,
    );
  });

  it('names segments by their ids', () => {
    expect(changed({ ...gradual, segments: [] }, { ...gradual, segments: [1, 2] })).toBe(
      `${start} segments from empty set of segments to (1,2)`,
    );
  });

  it('describes strategies whose only parameter is a list by that list', () => {
    const hosts = (hostNames: string) => ({ name: 'applicationHostname', parameters: { hostNames } });
    expect(changed(hosts(''), hosts('a.example, b.example'))).toBe(
      'by updating strategy **applicationHostname** in **production** hostNames from empty set of hostNames to (a.example,b.example)',
    );
    const addresses = (IPs: string) => ({ name: 'remoteAddress', parameters: { IPs } });
    expect(changed(addresses('10.0.0.1'), addresses('10.0.0.2'))).toBe(
      'by updating strategy **remoteAddress** in **production** IPs from (10.0.0.1) to (10.0.0.2)',
    );
  });

  it('escapes all text that users chose', () => {
    const after = {
      name: 'flexibleRollout',
      parameters: { rollout: '*', stickiness: '_', groupId: '`' },
      constraints: [{ contextName: '[c]', operator: '<op>', values: ['**v**'] }],
      segments: ['[s](x)'],
    };
    expect(changed(undefined, after)).toBe(
      `${start} stickiness to \\_; rollout to \\*%; groupId to \\\`; constraints from empty set of constraints to ` +
        '[\\[c\\] \\<op\\> (\\*\\*v\\*\\*)]; segments from empty set of segments to (\\[s\\](x))',
    );
  });

  it.each([undefined, null, 7, 'text', [], { constraints: 'x', parameters: [], segments: {}, name: 3, title: {} }])(
    'exists for the invalid strategy %j',
    (strategy) => {
      expect(changed(strategy, strategy)).toMatch(/^by updating strategy \*\*(unknown|3)\*\* in \*\*production\*\*$/);
    },
  );
});
