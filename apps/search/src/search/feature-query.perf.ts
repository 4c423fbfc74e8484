import { Refusal, SearchFeatures } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { parseFeatureQuery } from './feature-query.ts';

type Parameter = keyof Parameters<typeof parseFeatureQuery>[0];

function parse(parameter: Parameter, text: string): void {
  try {
    parseFeatureQuery({ [parameter]: parameter === 'status' ? [text] : text });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

/** The fastest of five runs, in milliseconds, because the machine may be shared. */
function millisecondsOf(parameter: Parameter, text: string): number {
  const samples = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    parse(parameter, text);
    return performance.now() - startedAt;
  });
  return Math.min(...samples);
}

const parameters = Object.keys(SearchFeatures.query.properties) as Parameter[];

it.each(
  parameters.flatMap((parameter) =>
    [',', ':', ' ', '\\', "'", '%', 'INCLUDE:', '1'].map((piece) => ({ parameter, piece })),
  ),
)('parses or refuses 4,000 characters of $piece in $parameter within 20 ms', ({ parameter, piece }) => {
  expect(millisecondsOf(parameter, piece.repeat(4_000 / piece.length))).toBeLessThan(20);
});

it.each([
  ['tag', 'INCLUDE:', 'a:b,'],
  ['segment', 'INCLUDE:', 'a,'],
  ['project', 'IS:', 'a,'],
] as const)(
  'refuses within 20 ms 4,000 characters of %s on which a regular expression would backtrack',
  (parameter, operator, piece) => {
    expect(millisecondsOf(parameter, `${operator.padEnd(3_999, piece)}\n`)).toBeLessThan(20);
  },
);
