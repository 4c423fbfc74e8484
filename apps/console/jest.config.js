import preset from '../../jest.preset.js';

const rootDir = import.meta.dirname;

export default {
  rootDir,
  projects: [
    { ...preset, displayName: 'console', rootDir, testMatch: ['<rootDir>/src/**/*.spec.ts'] },
    // One platform, one PostgreSQL and one browser for all specs of the pages.
    {
      ...preset,
      displayName: 'console in Chromium',
      rootDir,
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
  ],
  testTimeout: preset.testTimeout,
  reporters: preset.reporters,
};
