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

it('takes the short flags of Unleash Edge, which depend on the mode', () => {
  expect(
    settingsInArguments([
      '-p',
      '3064',
      'edge',
      '-u',
      'https://flags.example.org',
      '-t',
      'a,b',
      '-b',
      '/data',
      '--dynamic',
    ]),
  ).toEqual({
    PORT: '3064',
    UPSTREAM_URL: 'https://flags.example.org',
    TOKENS: 'a,b',
    BACKUP_FOLDER: '/data',
    DYNAMIC: 'true',
  });
  expect(settingsInArguments(['-b', '/flags', 'offline', '-b', 'features.json'])).toEqual({
    OFFLINE: 'true',
    BASE_PATH: '/flags',
    BOOTSTRAP_FILE: 'features.json',
  });
  expect(settingsInArguments(['offline', '-b', 'features.json', '-c', 'a', '-f', 'b', '-r=10'])).toEqual({
    OFFLINE: 'true',
    BOOTSTRAP_FILE: 'features.json',
    CLIENT_TOKENS: 'a',
    FRONTEND_TOKENS: 'b',
    RELOAD_INTERVAL: '10',
  });
});

it('refuses an argument that it does not know, and names it', () => {
  expect(() => settingsInArguments(['edge', '--redis-url', 'redis://localhost'])).toThrow('--redis-url');
  expect(() => settingsInArguments(['edge', '-x'])).toThrow('-x');
  expect(() => settingsInArguments(['serve'])).toThrow('serve');
});
