import { unavailable } from '@bunting/contracts';
import { expect, it } from 'vitest';
import { failureLog } from './failure-log.ts';
import { openLog } from './log.ts';

function logged(logAfterMs: number) {
  const lines: string[] = [];
  const log = openLog('warn', { write: (line) => void lines.push(JSON.parse(line).msg) });
  return { lines, failures: failureLog(log, logAfterMs) };
}
const away = unavailable('The gateway is away.');

it('a refusal of background work is not logged while another service may be restarting, and a defect at once', () => {
  const { lines, failures } = logged(60_000);
  failures.failed(1, 'The delivery failed', away);
  failures.failed(1, 'The delivery failed', away);
  expect(lines).toEqual([]);
  for (const _ of [1, 2]) failures.failed(1, 'The delivery failed', new TypeError('no such column'));
  expect(lines).toEqual(['The delivery failed: an unexpected error.']);
});

it('a lasting refusal of background work is logged once for each piece until it succeeds', () => {
  const { lines, failures } = logged(0);
  for (const piece of [1, 1, 2]) failures.failed(piece, `Piece ${piece} failed`, away);
  failures.ended(1);
  expect([failures.isFailing(1), failures.isFailing(2)]).toEqual([false, true]);
  failures.failed(1, 'Piece 1 failed', away);
  expect(lines).toEqual([1, 2, 1].map((piece) => `Piece ${piece} failed: The gateway is away.`));
});
