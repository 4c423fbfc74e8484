export default {
  testEnvironment: 'node',
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json'],
  transform: { '\\.ts$': new URL('./jest.strip-types.cjs', import.meta.url).pathname },
  // `npm test` learns from it which files failed, and how long each took.
  reporters: ['default', new URL('./jest.spec-results.cjs', import.meta.url).pathname],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // Only a defect takes this long, however busy the machine: longer than several assertions that wait (`eventually`).
  testTimeout: 240_000,
};
