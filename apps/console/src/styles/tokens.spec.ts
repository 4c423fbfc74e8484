import { environmentColors } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const tokens = readFileSync(path.join(import.meta.dirname, 'tokens.css'), 'utf8');

/** A colour token in light and in dark. */
function token(name: string): readonly [light: string, dark: string] {
  const match = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(tokens);
  if (match === null) throw new Error(`tokens.css has no colour ${name}.`);
  return [match[1] as string, match[2] as string];
}

/** The relative luminance of WCAG 2.2. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

describe('the mark of an environment', () => {
  it.each(environmentColors)('in %s contrasts with every surface by 3:1 in light and in dark', (color) => {
    for (const surface of ['surface', 'surface-subtle', 'surface-raised', 'surface-hover', 'surface-selected'])
      for (const scheme of [0, 1] as const)
        expect(contrast(token(`environment-${color}`)[scheme], token(surface)[scheme])).toBeGreaterThanOrEqual(3);
    expect(tokens).toContain(`[data-environment-color='${color}']`);
  });
});
