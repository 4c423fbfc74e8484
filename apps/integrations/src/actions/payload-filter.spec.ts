import type { PayloadFilter } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { alertmanagerSignal, grafanaSignal } from '../../test/payloads.ts';
import { matches, valueAt } from './payload-filter.ts';

const now = new Date('2026-03-01T12:00:00Z');

describe('the path of a value in a signal', () => {
  it.each([
    ['status', 'firing'],
    ['commonLabels.severity', 'page'],
    ['alerts[0].labels.job', 'checkout'],
    ['alerts[0].labels.app.kubernetes.io/name', 'shop'],
    ['truncatedAlerts', '0'],
    ['alerts[1].labels.job', undefined],
    ['alerts.0.labels.job', undefined],
    ['alerts', undefined],
    ['alerts[0]', undefined],
    ['commonLabels.constructor', undefined],
    ['statuses', undefined],
    ['', undefined],
  ])('%s is %s', (path, value) => expect(valueAt(alertmanagerSignal, path)).toBe(value));

  it('begins with an index in a list', () => expect(valueAt([['a', { b: true }]], '[0][1].b')).toBe('true'));

  it('of a name with dots is found behind another one that begins alike', () => {
    expect(valueAt({ a: { x: 1 }, 'a.b': 2 }, 'a.b')).toBe('2');
  });
});

describe('a filter', () => {
  const holds = (path: string, filter: PayloadFilter) => matches({ [path]: filter }, alertmanagerSignal, now);

  it('compares the value at its path as a constraint does', () => {
    expect(holds('commonLabels.severity', { operator: 'IN', values: ['page', 'critical'] })).toBe(true);
    expect(holds('commonLabels.severity', { operator: 'IN', values: ['info'] })).toBe(false);
    expect(holds('commonLabels.severity', { operator: 'IN', values: ['page'], inverted: true })).toBe(false);
    expect(holds('receiver', { operator: 'STR_STARTS_WITH', values: ['BUNT'], caseInsensitive: true })).toBe(true);
    expect(holds('truncatedAlerts', { operator: 'NUM_LT', value: '1' })).toBe(true);
  });

  it('reads what Grafana sends as it comes', () => {
    const filters: Record<string, PayloadFilter> = {
      status: { operator: 'IN', values: ['firing'] },
      'commonLabels.grafana_folder': { operator: 'IN', values: ['shop'] },
      'alerts[0].values.B': { operator: 'NUM_GT', value: '40' },
      title: { operator: 'STR_CONTAINS', values: ['CheckoutErrors'] },
    };
    expect(matches(filters, grafanaSignal, now)).toBe(true);
    expect(matches(filters, { ...grafanaSignal, status: 'resolved' }, now)).toBe(false);
  });

  it('on a date compares the date of the signal, and fails without one', () => {
    expect(holds('alerts[0].startsAt', { operator: 'DATE_AFTER', value: '2026-03-01T11:00:00Z' })).toBe(true);
    expect(holds('alerts[0].startsAt', { operator: 'DATE_AFTER', value: '2026-03-01T11:59:00Z' })).toBe(false);
    expect(holds('alerts[7].startsAt', { operator: 'DATE_BEFORE', value: '2030-01-01' })).toBe(false);
  });

  it('must hold as all others, and no filter matches every signal', () => {
    const firing: PayloadFilter = { operator: 'IN', values: ['firing'] };
    expect(matches({ status: firing, receiver: firing }, alertmanagerSignal, now)).toBe(false);
    expect(matches({}, alertmanagerSignal, now)).toBe(true);
  });
});
