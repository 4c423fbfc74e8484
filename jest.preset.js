export default {
  testEnvironment: 'node',
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json'],
  transform: { '\\.ts$': new URL('./jest.strip-types.cjs', import.meta.url).pathname },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  testTimeout: 60_000,
};
