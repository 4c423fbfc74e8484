import { expect, it } from 'vitest';
import { progressDisplay } from './progress-display.ts';

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, columns: 80, written, write: (text: string) => written.push(text) };
}

it('writes a line to a log every two seconds, and one at the end', () => {
  let now = 0;
  const log = screen(false);
  const progress = progressDisplay(log, { total: 4_000, what: 'features' }, () => now);
  for (const done of [1_000, 2_000, 3_000, 4_000]) {
    now += 1_000;
    progress.to(done);
  }
  progress.end();
  expect(log.written).toEqual(['2,000 of 4,000 features, about 2 s left\n', '4,000 of 4,000 features\n']);
});

it('draws a bar on a terminal that fits into its line', () => {
  const terminal = screen(true);
  const progress = progressDisplay(terminal, { total: 2, what: 'features' }, () => 0);
  progress.to(1);
  progress.to(2);
  progress.end();
  const bars = terminal.written.slice(0, -1).map((text) => text.replaceAll(/[\r\u001b]|\[K/g, ''));
  expect(bars.map((bar) => bar.split('#').length - 1)).toEqual([0, 20, 40]);
  expect(Math.max(...bars.map(({ length }) => length))).toBeLessThan(80);
  expect(terminal.written.at(-1)).toBe('\n');
});
