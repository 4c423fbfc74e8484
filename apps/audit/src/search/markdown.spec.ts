import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { bold, boldLink, joinTruncated, escapeMarkdown } from './markdown.ts';

describe('User text in Markdown', () => {
  it.each([
    ['**bold** _it_ ~~no~~ `code`', '\\*\\*bold\\*\\* \\_it\\_ \\~\\~no\\~\\~ \\`code\\`'],
    ['[text](javascript:alert(1))', '\\[text\\](javascript:alert(1))'],
    ['![image](x)', '!\\[image\\](x)'],
    ['<script>&amp;', '\\<script\\>\\&amp;'],
    ['https://evil.example www.evil.example', 'https\\://evil.example www\\.evil.example'],
    ['a | b \\ c', 'a \\| b \\\\ c'],
    ['first\n# second\r\n- third\u2028fourth', 'first # second - third fourth'],
    ['  blanks around  ', 'blanks around'],
    ['\u202eright to left\u2066', 'right to left'],
    ['mark\u200f kept, 😀 too', 'mark\u200f kept, 😀 too'],
    ['anna-k.lee@example.com', 'anna-k.lee@example.com'],
  ])('has no effect as markup, and is shown as it was entered: %j', (text, shown) => {
    expect(escapeMarkdown(text)).toBe(shown);
  });

  it('is truncated, never inside a character', () => {
    expect(escapeMarkdown('😀'.repeat(300))).toBe(`${'😀'.repeat(200)}…`);
  });

  it('is escaped by one rule for any content and length', () => {
    const ruled = (text: string) => {
      const line = text
        .toWellFormed()
        .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
        .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
      const letters = [...line.trim()];
      const shown = letters.length > 200 ? `${letters.slice(0, 200).join('')}…` : letters.join('');
      return shown.replace(/[\\`*_[\]<>~|&]|:(?=\/\/)|(?<=www)\./gi, '\\$&');
    };
    const pieces = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.string({ maxLength: 90 }),
      fc.constantFrom(
        'www.',
        'WwW.',
        '://',
        ':',
        '.',
        '/',
        ' ',
        '😀',
        '\ud83d',
        '\ude00',
        '\u2028',
        '\u202e',
        '\u0085',
        '\n',
      ),
      fc.constantFrom('a'.repeat(199), 'ordinary text', '😀'.repeat(198)),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (texts) => {
        expect(escapeMarkdown(texts.join(''))).toBe(ruled(texts.join('')));
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it('has a placeholder for a missing name', () => {
    expect([bold(''), bold(' \n'), bold('Oslo')]).toEqual(['**unknown**', '**unknown**', '**Oslo**']);
  });

  it('is percent-encoded in the address of a link', () => {
    expect(boldLink('a)(b', 'https://bunting.example', 'projects', '../x y', 'features', 'a)(b')).toBe(
      '**[a)(b](https://bunting.example/projects/..%2Fx%20y/features/a%29%28b)**',
    );
  });

  it('lists the first names of many, and counts the others', () => {
    expect(joinTruncated(['a', 'b'], ',')).toBe('a,b');
    expect(
      joinTruncated(
        Array.from({ length: 25 }, (_, nth) => String(nth)),
        ',',
      ),
    ).toMatch(/^0,1,.*,19,… 5 more$/);
  });
});
