import { eventTypes } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { otlpLog, requireValidHostname, syslogMessage } from './log-records.ts';
import { switchedOn } from '../../test/payloads.ts';

const event = switchedOn;
const markdown = '**mia** enabled **[banner](/projects/shop/features/banner)** for the **production** environment';

describe('a log record for OpenTelemetry', () => {
  it('has the sentence, what the event is about, and the whole event', () => {
    const sent = otlpLog(event, 'msg_1', markdown) as { readonly resourceLogs: readonly [Record<string, unknown>] };
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
    expect(sent.resourceLogs).toEqual([
      {
        resource: { attributes: [text('service.name', 'bunting')] },
        scopeLogs: [
          {
            scope: { name: 'bunting.events' },
            logRecords: [
              {
                timeUnixNano: '1795852800000000000',
                observedTimeUnixNano: '1795852800000000000',
                severityNumber: 9,
                severityText: 'INFO',
                eventName: 'bunting.feature-environment-enabled',
                body: { stringValue: 'mia enabled banner for the production environment' },
                attributes: [
                  text('log.record.uid', 'msg_1'),
                  text('bunting.event.id', '7'),
                  text('bunting.event.type', 'feature-environment-enabled'),
                  text('bunting.project', 'shop'),
                  text('bunting.environment', 'production'),
                  text('feature_flag.key', 'banner'),
                  text('user.name', 'mia'),
                  text('user.id', '1'),
                  text('bunting.event', JSON.stringify(event)),
                ],
              },
            ],
          },
        ],
      },
    ]);
  });
});

describe('a record of syslog', () => {
  it('has time, host, type, structured data and the sentence, as RFC 5424 says', () => {
    expect(syslogMessage(event, 'msg_1', markdown, 'flags.example.org')).toBe(
      '<109>1 2026-11-28T08:00:00.000Z flags.example.org bunting - feature-environment-enabled ' +
        '[event@32473 uid="msg_1" id="7" type="feature-environment-enabled" project="shop" environment="production" flag="banner" user="mia" userId="1"] ' +
        '\uFEFFmia enabled banner for the production environment',
    );
    const ofTheSystem = { ...event, featureName: null, project: null, environment: null, createdByUserId: null };
    expect(syslogMessage(ofTheSystem, 'msg_1', 'x')).toContain(
      ' - bunting - feature-environment-enabled [event@32473 uid="msg_1" id="7" type="feature-environment-enabled" user="mia"] ',
    );
  });

  it('has no name that ends the structured data or begins another record', () => {
    const record = syslogMessage({ ...event, createdBy: 'a"] x\\\n<1>1' }, 'msg_1', 'one\r\ntwo\u0000\u2028');
    expect(record).toContain(String.raw`user="a\"\] x\\ <1>1" userId`);
    expect(record).toMatch(/\uFEFFone {2}two {2}$/);
  });

  it('takes at most 8 kB, and its message id 32 characters, whatever the event', () => {
    const long = '😀"'.repeat(20_000);
    const names = { createdBy: long, project: long, environment: long, featureName: long };
    const record = syslogMessage({ ...event, ...names }, 'msg_1', long, 'x'.repeat(255));
    expect(Buffer.byteLength(record)).toBeLessThanOrEqual(8_192);
    expect(record.isWellFormed()).toBe(true);
    for (const type of eventTypes)
      expect(syslogMessage({ ...event, type }, 'msg_1', 'x').split(' ')[5]?.length).toBeLessThanOrEqual(32);
  });

  it('has no host name with blanks', () => {
    for (const hostname of ['a b', 'ä', '', 'x'.repeat(256), 'a\nb'])
      expect(() => requireValidHostname({ hostname }), hostname).toThrow('visible characters of ASCII');
    requireValidHostname({ hostname: 'flags.example.org' });
    requireValidHostname({});
  });
});
