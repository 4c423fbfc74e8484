import { describe, expect, it } from 'vitest';
import { eventLabel, subjectOf, summaryInWords } from './event-words.ts';

describe('the summary of an event', () => {
  it('says in words what the API leaves at the type', () => {
    expect(summaryInWords('**ada** triggered **feature-dependency-added**')).toBe(
      '**ada** let a flag depend on another one',
    );
    expect(summaryInWords('**ada** triggered **signal-endpoint-token-created**')).toBe(
      '**ada** created a token of a signal endpoint',
    );
    expect(summaryInWords('**unleash\\_system\\_user** triggered **application-created**')).toBe(
      '**Bunting** saw an application for the first time',
    );
  });

  it('names what it is about, whatever the name is', () => {
    const event = { type: 'application-created', data: { appName: 'shop*[a](b)$&' }, preData: null };
    expect(summaryInWords('**ada** triggered **application-created**', subjectOf(event))).toBe(
      String.raw`**ada** saw an application for the first time: **shop\*\[a\]\(b\)$&**`,
    );
    expect(subjectOf({ type: 'role-deleted', data: null, preData: { name: 'Editor' } })).toBe('Editor');
    expect(subjectOf({ type: 'role-created', data: { name: 7 }, preData: 'text' })).toBeUndefined();
    expect(subjectOf({ type: 'tag-created', data: { type: 'team', value: 'shop' } })).toBe('team:shop');
    expect(subjectOf({ type: 'tag-deleted', preData: { type: 'team', value: 'shop' } })).toBe('team:shop');
    expect(subjectOf({ type: 'setting-created', data: { id: 'simple', disabled: true } })).toBe('passwords');
    expect(subjectOf({ type: 'setting-updated', data: { id: 'toString' } })).toBeUndefined();
  });

  it('names a strategy without a title by its type as people choose it, and any other as it is', () => {
    expect(summaryInWords('**ada** added strategy **flexibleRollout** to *a*')).toBe(
      '**ada** added strategy **Gradual rollout** to *a*',
    );
    for (const name of ['Pilot', 'constructor']) {
      const summary = `**ada** added strategy **${name}** to *a*`;
      expect(summaryInWords(summary)).toBe(summary);
    }
  });

  it('keeps types that it does not know, and every other summary', () => {
    for (const summary of ['**ada** triggered **constructor**', '**ada** enabled *[a](/b)*'])
      expect(summaryInWords(summary)).toBe(summary);
  });

  it('has words for its type where it has no label', () => {
    const type = 'project-access-added';
    for (const event of [{ type }, { type, label: type }]) expect(eventLabel(event)).toBe('Gave access to a project');
    expect(eventLabel({ type: 'project-created', label: 'Project created' })).toBe('Project created');
    expect(eventLabel({ type: 'constructor' })).toBe('Constructor');
  });
});
