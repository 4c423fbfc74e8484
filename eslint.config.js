import nx from '@nx/eslint-plugin';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

// Who may import whom.

const tests = ['**/*.spec.ts', '**/*.perf.ts', '**/test/**/*.ts'];
const services = ['features', 'change-requests', 'audit', 'search', 'integrations', 'gateway'];

/** Libraries that a project's own code may import, by the tags of their package.json. */
const dependencies = {
  'scope:contracts': [],
  'scope:embedded-postgres': [],
  'scope:tracing': [],
  'scope:bus': ['scope:contracts', 'scope:tracing'],
  'scope:database': ['scope:contracts', 'scope:tracing'],
  'scope:evaluation': ['scope:contracts'],
  'scope:runtime': ['scope:contracts', 'scope:bus', 'scope:tracing'],
  'scope:outbox': ['scope:contracts', 'scope:bus', 'scope:database', 'scope:runtime', 'scope:tracing'],
  'scope:http': ['scope:contracts', 'scope:bus', 'scope:runtime', 'scope:tracing'],
  'scope:delivery': ['scope:contracts', 'scope:bus', 'scope:evaluation', 'scope:http', 'scope:runtime'],
  'scope:testing': ['scope:embedded-postgres'],
  'type:service': [
    'scope:contracts',
    'scope:bus',
    'scope:database',
    'scope:runtime',
    'scope:outbox',
    'scope:evaluation',
    'scope:http',
    'scope:delivery',
    'scope:tracing',
    'scope:embedded-postgres',
  ],
  'scope:edge': [
    'scope:contracts',
    'scope:bus',
    'scope:runtime',
    'scope:evaluation',
    'scope:http',
    'scope:delivery',
    'scope:tracing',
  ],
  'scope:console': ['scope:contracts'],
  'scope:all-in-one': ['scope:contracts', 'scope:bus', 'scope:runtime', 'scope:embedded-postgres', 'type:service'],
};

/** Tests may import more: `@bunting/testing` and what else they need to set the scene. */
const projectRule = ({ alsoAllowed = [], allow = [] } = {}) => ({
  '@nx/enforce-module-boundaries': [
    'error',
    {
      allow,
      depConstraints: Object.entries(dependencies).map(([sourceTag, tags]) => ({
        sourceTag,
        onlyDependOnLibsWithTags: [...tags, ...alsoAllowed],
      })),
    },
  ],
});

/** A name that is not to be imported, as a pattern of `no-restricted-imports`. */
const never = (regex, message) => ({ regex, message });

const noTestCode = never(
  '^@bunting/(testing|delivery/test)$|^(\\.\\.?/)+(.*/)?test/|\\.spec\\.ts$',
  'Only tests import what is made for tests.',
);
const noForeignDatabase = never(
  '^(@bunting/database(/entities)?|@mikro-orm/.*|kysely|pg|@types/pg)$',
  'Only stores, unit-of-work/, migrations/ and service.ts may use the database.',
);
const onlyBrowser = never(
  '^node:|^@bunting/contracts/',
  'The console runs in browsers: of the contracts it imports the schemas and types only.',
);
const noHttp = never(
  '^(fastify|@fastify/.*|node:http2?|node:https)$',
  'Only the gateway, and the client of integrations, may use HTTP.',
);
const noNats = never('^@nats-io/', 'Only the bus may use NATS.');
/** Calls that need not be among the `calledOperations` of a service. */
const noUndeclaredCalls = (...importNames) => ({
  regex: '^@bunting/bus$',
  importNames,
  message: 'A service calls with the functions of its calls.ts, which take the operations that it declares.',
});
const onlyDeclaredCalls = noUndeclaredCalls('call', 'callIfSupported', 'callForResponse');
const noSdk = never(
  '^@opentelemetry/',
  'Only libs/tracing imports OpenTelemetry: spans are started with @bunting/tracing.',
);
const noEmbeddedDatabase = never(
  '^@bunting/embedded-postgres$',
  'Of the apps only all-in-one may import @bunting/embedded-postgres: a service connects to the URL of its settings.',
);

const imports = (...patterns) => ({
  'no-restricted-imports': ['error', { patterns: [noTestCode, noSdk, ...patterns] }],
});

/** What a pure package may reach for beside its own files; everything else that is not relative is refused. */
const onlyPackages = (packages, message) => never(`^(?!\\.|(${packages.join('|')})$)`, message);

const purePackages = [
  '@bunting/contracts',
  '@bunting/contracts/(hashing|id-blocks|validation)',
  '@bunting/evaluation',
  'semver',
  'semver/.*',
  'fast-json-patch',
  'fast-json-patch/.*',
  're2js',
  'scim2-parse-filter',
  'ip-address',
  'ipaddr.js',
  'mustache',
];
const pureMessage = 'Rules are pure: they import @bunting/contracts, other rules and pure packages.';

const pureLibrary = {
  files: ['libs/evaluation/src/**/*.ts'],
  ignores: tests,
  rules: imports(onlyPackages(purePackages, pureMessage)),
};

/** Services whose folders are nouns: what a file may import follows from its name. */
const slicedServices = '{change-requests,audit,features,search,integrations}';
const below = `apps/${slicedServices}/src/*`;
const storeFiles = [`${below}/**/*-store.ts`, `apps/${slicedServices}/src/{unit-of-work,migrations}/*.ts`];
const wiringFiles = [
  `apps/${slicedServices}/src/endpoints.ts`,
  `${below}/**/{endpoints,subscriptions,background}.ts`,
  // The adapter of an external index.
  'apps/search/src/index/meilisearch-*.ts',
  // What sends events to destinations, and follows a log that was restored.
  'apps/integrations/src/delivery/{sender,turn,restored-log}.ts',
  // What signs requests to destinations.
  'apps/integrations/src/sending/{signature,aws-signature,slack-signature}.ts',
  // What signs links in mails.
  'apps/integrations/src/mail/unsubscribe-links.ts',
];
/** The clients of the destinations of events, and of the mail server. */
const clientFiles = 'apps/integrations/src/sending/{http-client,mail-transport}.ts';
const ruleFiles = { files: [`${below}/**/*.ts`], ignores: [...tests, ...storeFiles, ...wiringFiles, clientFiles] };
const wiringImports = '(endpoints|subscriptions|background|service|calls|main)\\.ts$';
const storeMessage = 'A store imports rules, other stores, @bunting/contracts, outbox and database.';

/** The pure files among those of the nouns that the gateway owns. */
const gatewayRules = [
  'apps/gateway/src/access/{events,refusals}.ts',
  'apps/gateway/src/access/*/{account,group,oidc-claims,oidc-settings,password-policy,pat,project-roles,role,setting,token}.ts',
];

/** What has a timer of its own instead of `startLoop`: it needs no backoff, and ends when the last object that it watches does. */
const filesWithInterval = [
  'libs/http/src/admission/unread-responses.ts',
  'libs/delivery/src/streams/delivery-streams.ts',
  'libs/bus/src/nats/nats-messages.ts',
];
const impureGlobals = [
  'process',
  'globalThis',
  'console',
  'crypto',
  'fetch',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
];
const impureSyntax = [
  ["MemberExpression[object.name='Date'][property.name='now']", 'Rules are pure: the operation hands in the time.'],
  ["NewExpression[callee.name='Date'][arguments.length=0]", 'Rules are pure: the operation hands in the time.'],
  ["CallExpression[callee.name='Date']", 'Rules are pure: the operation hands in the time.'],
  [
    "MemberExpression[object.name='Math'][property.name='random']",
    'Rules are pure: the operation hands in ids and chance.',
  ],
  ['ImportExpression', pureMessage],
];
const namedExports = { selector: 'ExportDefaultDeclaration', message: 'Exports are named.' };
const noSpreadOfLiteral = {
  selector: ':matches(SpreadElement, JSXSpreadAttribute) > :matches(ObjectExpression, ArrayExpression)',
  message: 'Write the members of a literal where they belong, without a spread.',
};
const noSpreadOfConstant = {
  selector: 'SpreadElement > TSAsExpression > :matches(ObjectExpression, ArrayExpression)',
  message: noSpreadOfLiteral.message,
};
const noEnum = { selector: 'TSEnumDeclaration', message: 'Node erases types and makes no code of them: use a union.' };
/** Lower bounds of a time, as in `expect(Date.now()).toBeGreaterThan(…)`, hold however busy the machine is. */
const noDurations = [
  "CallExpression[callee.name='expect'] BinaryExpression[operator='-'] > CallExpression.left[callee.object.name='performance']",
  "CallExpression[callee.name='expect'] > BinaryExpression[operator='-'] > CallExpression.left[callee.object.name='Date']",
  "VariableDeclarator > BinaryExpression[operator='-'] > CallExpression.left[callee.object.name='performance']",
].map((selector) => ({ selector, message: 'A functional test asserts no durations: those belong into a *.perf.ts.' }));
const packagesFirst = {
  selector: 'ImportDeclaration[source.value=/^\\./] ~ ImportDeclaration[source.value=/^[^.]/]',
  message: 'Packages are imported before files.',
};
const syntaxEverywhere = [namedExports, noEnum, noSpreadOfLiteral, noSpreadOfConstant, packagesFirst];

export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '.nx/', '.bunting/', 'coverage/', 'tmp/'] },
  { linterOptions: { noInlineConfig: true } },
  ...tseslint.configs.recommended,
  {
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-eval': 'error',
      'no-constant-condition': ['error', { checkLoops: false }],
      'no-fallthrough': 'error',
      'no-self-compare': 'error',
      'no-template-curly-in-string': 'error',
      'no-unsafe-finally': 'error',
      // As comments for ESLint, those for oxlint turn nothing off.
      'no-warning-comments': ['error', { terms: ['oxlint-disable'], location: 'anywhere' }],
      'no-useless-escape': 'error',
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { '@nx': nx },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': ['error', ...syntaxEverywhere],
      ...projectRule(),
      ...imports(),
    },
  },

  {
    files: ['libs/contracts/src/**/*.ts'],
    ignores: tests,
    rules: imports(
      onlyPackages(['typebox', 'typebox/.*'], 'Contracts import TypeBox only, so that browsers can import them.'),
    ),
  },
  {
    files: ['libs/contracts/src/validation.ts'],
    ignores: tests,
    rules: imports(
      onlyPackages(
        ['typebox', 'typebox/.*', 'ajv', 'ajv/.*', 'ajv-formats'],
        'Validation imports TypeBox and Ajv only.',
      ),
    ),
  },
  {
    files: ['libs/contracts/src/{hashing,id-blocks}.ts'],
    rules: imports(onlyPackages(['node:crypto', 'node:zlib'], 'Hashing imports node:crypto and node:zlib only.')),
  },
  {
    files: ['libs/tracing/src/**/*.ts'],
    ignores: tests,
    rules: { 'no-restricted-imports': ['error', { patterns: [noTestCode] }] },
  },
  { files: ['libs/{runtime,outbox,database}/src/**/*.ts'], ignores: tests, rules: imports(noNats) },

  {
    files: ['apps/*/src/**/*.ts'],
    ignores: tests,
    rules: imports(noForeignDatabase, noNats, noEmbeddedDatabase, noHttp, onlyDeclaredCalls),
  },
  {
    files: [clientFiles],
    rules: imports(noForeignDatabase, noNats, noEmbeddedDatabase, onlyDeclaredCalls),
  },
  // Requests of clients are passed on to whichever operation they name.
  {
    files: ['apps/gateway/src/**/*.ts'],
    ignores: tests,
    rules: imports(noForeignDatabase, noNats, noEmbeddedDatabase, noUndeclaredCalls('call', 'callIfSupported')),
  },
  // An edge speaks HTTP on both sides.
  {
    files: ['apps/edge/src/**/*.ts'],
    ignores: tests,
    rules: imports(noForeignDatabase, noNats, noEmbeddedDatabase, onlyDeclaredCalls),
  },
  {
    files: ['apps/*/src/service.ts', 'apps/all-in-one/src/**/*.ts'],
    ignores: tests,
    rules: imports(noNats, onlyDeclaredCalls),
  },
  // The parts of the gateway's service.ts get the database that it has opened.
  {
    files: [
      'apps/gateway/src/authentication.ts',
      'apps/gateway/src/http/health.ts',
      'apps/gateway/src/**/subscriptions.ts',
    ],
    ignores: tests,
    rules: imports({ ...noForeignDatabase, allowTypeImports: true }, noNats, noEmbeddedDatabase, onlyDeclaredCalls),
  },
  {
    files: [
      'apps/gateway/src/access/**/{*-store,background}.ts',
      'apps/gateway/src/{unit-of-work,migrations}/*.ts',
      'apps/gateway/src/service.ts',
    ],
    ignores: tests,
    rules: imports(noNats, noEmbeddedDatabase, onlyDeclaredCalls),
  },
  {
    files: gatewayRules,
    rules: imports(
      onlyPackages(purePackages, pureMessage),
      never('(-store|endpoints|background|subscriptions|unit-of-work)\\.ts$', pureMessage),
    ),
  },
  {
    files: wiringFiles,
    ignores: tests,
    rules: imports(
      { ...noForeignDatabase, allowTypeImports: true },
      noNats,
      noEmbeddedDatabase,
      noHttp,
      onlyDeclaredCalls,
    ),
  },
  {
    files: storeFiles,
    ignores: tests,
    rules: imports(
      noHttp,
      noNats,
      never('^@bunting/(?!(contracts|outbox|database)(/|$))', storeMessage),
      never(`^\\..*/${wiringImports}`, storeMessage),
    ),
  },
  {
    ...ruleFiles,
    rules: imports(
      onlyPackages(purePackages, pureMessage),
      never(`^\\..*/(.*-store\\.ts|unit-of-work/.*|migrations/.*|${wiringImports})`, pureMessage),
    ),
  },
  pureLibrary,
  {
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: [...tests, 'apps/console/**', 'libs/testing/**', ...filesWithInterval],
    rules: {
      'no-restricted-globals': [
        'error',
        {
          name: 'setInterval',
          message: 'A background job runs in startLoop, which handles its failures and its stop.',
        },
      ],
    },
  },
  {
    files: ['libs/evaluation/src/**/*.ts', ...ruleFiles.files, ...gatewayRules],
    ignores: ruleFiles.ignores,
    rules: {
      'no-restricted-globals': [
        'error',
        ...impureGlobals.map((name) => ({ name, message: 'Rules are pure: no clock, no chance, no process.' })),
      ],
      'no-restricted-syntax': [
        'error',
        ...syntaxEverywhere,
        ...impureSyntax.map(([selector, message]) => ({ selector, message })),
      ],
    },
  },

  {
    files: ['apps/all-in-one/src/**/*.ts'],
    ignores: tests,
    rules: projectRule({ allow: services.map((name) => `@bunting/${name}`) }),
  },
  {
    files: tests,
    rules: {
      'no-restricted-imports': 'off',
      ...projectRule({ alsoAllowed: ['scope:testing', 'scope:contracts', 'scope:embedded-postgres'] }),
    },
  },
  { files: ['**/*.spec.ts'], rules: { 'no-restricted-syntax': ['error', ...syntaxEverywhere, ...noDurations] } },
  {
    files: ['apps/all-in-one/{src,test}/**/*.{spec,perf}.ts', 'apps/all-in-one/test/**/*.ts'],
    rules: projectRule({
      alsoAllowed: ['scope:testing'],
      allow: [...services, 'edge'].map((name) => `@bunting/${name}`),
    }),
  },
  {
    files: ['apps/console/src/**/*.{ts,tsx}'],
    ignores: tests,
    rules: imports(noForeignDatabase, noNats, noEmbeddedDatabase, noHttp, onlyBrowser),
  },
  {
    files: ['apps/console/src/**/*.tsx'],
    plugins: { 'jsx-a11y': jsxA11y, 'react-hooks': reactHooks },
    rules: {
      ...jsxA11y.flatConfigs.strict.rules,
      ...reactHooks.configs.flat.recommended.rules,
      // A dialog moves the focus to its first field.
      'jsx-a11y/no-autofocus': 'off',
      // It warns of libraries that React's compiler cannot handle, which is not used.
      'react-hooks/incompatible-library': 'off',
      // What scrolls must be reachable by keyboard.
      'jsx-a11y/no-noninteractive-tabindex': ['error', { tags: [], roles: ['region', 'tabpanel'] }],
    },
  },
  // Vite and Vitest read their configuration from a default export.
  {
    files: ['apps/console/vite.config.ts', 'vitest.config.ts'],
    rules: { 'no-restricted-syntax': ['error', ...syntaxEverywhere.filter((rule) => rule !== namedExports)] },
  },
  { files: ['**/*.cjs'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  // They work on the repository as a whole.
  { files: ['scripts/**/*.ts'], rules: { '@nx/enforce-module-boundaries': 'off', 'no-restricted-imports': 'off' } },
);
