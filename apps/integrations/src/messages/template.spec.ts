import { describe, expect, it } from 'vitest';
import { renderTemplate, requireTemplate } from './template.ts';

const event = {
  type: 'feature-created',
  createdBy: 'a "b" <c>',
  tags: Array.from({ length: 200 }, (_, nth) => ({ nth })),
};
const render = (template: string, markdown = 'x') => renderTemplate(template, event, markdown);

describe('a body template', () => {
  it('renders members of the event, the event as a JSON text, and its sentence', () => {
    expect(render('{"type":"{{event.type}}","by":"{{event.createdBy}}"}')).toBe(
      '{"type":"feature-created","by":"a &quot;b&quot; &lt;c&gt;"}',
    );
    const { json } = JSON.parse(render('{"json":{{{eventJson}}}}')) as { json: string };
    expect(JSON.parse(json)).toEqual(event);
  });

  it('escapes the sentence within a text of JSON, and not elsewhere', () => {
    const markdown = '**a** "b"\n\\c';
    expect(JSON.parse(render('{"quote": "\\"", "text": "{{eventMarkdown}}"}', markdown))).toEqual({
      quote: '"',
      text: markdown,
    });
    expect(render('{{eventMarkdown}} {{{eventMarkdown}}}', markdown)).toBe(`${markdown} ${markdown}`);
  });

  it.each(['{{#event}}', '{{event', '{{/event}}', '{{#a}}{{/b}}'])(
    'is refused if it does not parse: %s',
    (template) => {
      expect(() => requireTemplate(template)).toThrow();
    },
  );

  it.each([
    ['sections within sections of lists', '{{#event.tags}}'.repeat(6) + '{{nth}}' + '{{/event.tags}}'.repeat(6)],
    ['large values many times', '{{{eventJson}}}'.repeat(2_000)],
    ['the sentence many times', '{{eventMarkdown}}'.repeat(20_000)],
  ])('ends with an error where it would render without bound: %s', (_name, template) => {
    expect(() => renderTemplate(template, event, 'm'.repeat(1_000))).toThrow('renders too many');
  });

  it.each([
    '{{event.constructor}}',
    '{{event.type.constructor.name}}',
    '{{event.__proto__}}',
    '{{constructor}}',
    '{{#event.tags.map}}x{{/event.tags.map}}',
    '{{> partial}}',
  ])('reaches nothing but the data: %s', (template) => expect(render(template)).toBe(''));
});
