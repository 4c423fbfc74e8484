import { expect, it } from 'vitest';
import { settingsInArguments } from './arguments.ts';

it('takes the arguments of Unleash Edge: a mode, settings as flags, and switches with a value or without', () => {
  const args = [
    'edge',
    '--upstream-url',
    'https://flags.example.org',
    '--tokens=*:development.abc',
    '--strict',
    '--delta',
    'false',
  ];
  expect(settingsInArguments(args)).toEqual({
    UPSTREAM_URL: 'https://flags.example.org',
    TOKENS: '*:development.abc',
    STRICT: 'true',
    DELTA: 'false',
  });
  expect(settingsInArguments(['offline', '--bootstrap-file', 'features.json'])).toEqual({
    OFFLINE: 'true',
    BOOTSTRAP_FILE: 'features.json',
  });
  expect(settingsInArguments([])).toEqual({});
});

it('refuses an argument that it does not know, and names it', () => {
  expect(() => settingsInArguments(['edge', '--redis-url', 'redis://localhost'])).toThrow('--redis-url');
  expect(() => settingsInArguments(['health'])).toThrow('health');
});
