import tseslint from 'typescript-eslint';

/** The rules that need types. They take as long as all others together, so `npm run lint` runs them beside those. */
export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '.nx/', '.bunting/', 'coverage/', 'tmp/', '**/*.js'] },
  { linterOptions: { noInlineConfig: true } },
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
);
