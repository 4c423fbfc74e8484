import react from '@vitejs/plugin-react';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** Writes a brotli and a gzip file beside each file of the build, which the gateway serves as they are. */
const compress = (): Plugin => ({
  name: 'compress',
  apply: 'build',
  async writeBundle({ dir = '' }) {
    const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
    const compressFile = async (name: string): Promise<void> => {
      const file = path.join(dir, name);
      const bytes = readFileSync(file);
      // The highest quality, which is the default, takes some seconds more and makes the files 7 % smaller.
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      writeFileSync(`${file}.br`, await toBrotli(bytes, { params }));
      writeFileSync(`${file}.gz`, await toGzip(bytes, { level: 9 }));
    };
    await Promise.all(names.filter((name) => /\.(js|css|svg|html)$/.test(name)).map(compressFile));
  },
});

/** What the browser needs of an operation: the server validates requests and replies. */
const membersForBrowsers = new Set(['permission', 'http', 'body', 'ifMatch', 'readsOnly']);

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

function syntaxNodes(value: unknown): SyntaxNode[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(syntaxNodes);
  return 'type' in value && 'start' in value ? [value as unknown as SyntaxNode, ...below] : below;
}

/**
 * Leaves out of `defineOperation({ … })` what only servers read. The schemas that nothing else names are then not part of the build, which
 * makes a signed-in first load 20 kB smaller.
 */
const operationsForBrowsers = (): Plugin => ({
  name: 'operations-for-browsers',
  apply: 'build',
  transform(code, id) {
    if (!/libs[\\/]contracts[\\/]src/.test(id) || !code.includes('defineOperation(')) return null;
    const omitted = syntaxNodes(this.parse(code))
      .filter(({ type, callee }) => type === 'CallExpression' && (callee as SyntaxNode)['name'] === 'defineOperation')
      .flatMap((call) => {
        const members = ((call['arguments'] as SyntaxNode[])[0]?.['properties'] ?? []) as SyntaxNode[];
        const nameOf = ({ key }: SyntaxNode): string => String((key as SyntaxNode | undefined)?.['name'] ?? '');
        // Without an id, an operation has that in its subject.
        const idMember = members.some((member) => nameOf(member) === 'operationId') ? 'operationId' : 'subject';
        return members.filter((member) => {
          const name = nameOf(member);
          return name !== '' && name !== idMember && !membersForBrowsers.has(name);
        });
      });
    return omitted
      .toSorted((one, other) => other.start - one.start)
      .reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end).replace(/^\s*,/, ''), code);
  },
});

const isText = (node: SyntaxNode): boolean =>
  (node.type === 'Literal' && typeof node['value'] === 'string') ||
  node.type === 'TemplateLiteral' ||
  (node.type === 'BinaryExpression' && isText(node['left'] as SyntaxNode));

/** Leaves out what the schemas of the contracts say to readers of the OpenAPI document: the functions that make schemas begin with a capital. */
const schemasForBrowsers = (): Plugin => ({
  name: 'schemas-for-browsers',
  apply: 'build',
  transform(code, id) {
    if (!/libs[\\/]contracts[\\/]src/.test(id)) return null;
    const texts = syntaxNodes(this.parse(code))
      .filter(({ type, callee }) => {
        if (type !== 'CallExpression') return false;
        const { name, object } = callee as SyntaxNode;
        return /^[A-Z]/.test(String(name ?? (object as SyntaxNode | undefined)?.['name'] ?? ''));
      })
      .flatMap((call) => call['arguments'] as SyntaxNode[])
      .flatMap((argument) => (argument['properties'] ?? []) as SyntaxNode[])
      .filter(
        ({ key, value }) => (key as SyntaxNode | undefined)?.['name'] === 'description' && isText(value as SyntaxNode),
      );
    return texts
      .toSorted((one, other) => other.start - one.start)
      .reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end).replace(/^\s*,/, ''), code);
  },
});

const api = process.env['BUNTING_URL'] ?? 'http://127.0.0.1:4242';

export default defineConfig({
  root: import.meta.dirname,
  // The page names its files from the root, below which the gateway moves them to a base path; files find each other by where they are.
  experimental: { renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? `/${file}` : { relative: true }) },
  plugins: [react(), operationsForBrowsers(), schemasForBrowsers(), compress()],
  build: {
    outDir: 'dist/web',
    assetsDir: 'console',
    target: 'es2023',
    // The content security policy allows no data: scripts and styles, and a small file costs one request once.
    assetsInlineLimit: 0,
    // Written by the browser as a <script> element otherwise, which the policy refuses.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // test/shell/size.spec.ts limits the compressed sizes instead.
    chunkSizeWarningLimit: 1_000,
    // A browser sends six requests of HTTP/1.1 at a time: the first load is seventeen files rather than forty-five.
    rolldownOptions: {
      // A module of the contracts declares a noun; what the console does not use of it is left out, schemas of TypeBox included.
      treeshake: { manualPureFunctions: ['Type', 'operationsOf', 'defineOperation'] },
      output: {
        // The first load has the names of all files. Those of the contracts list the pages that share them, which nobody reads.
        chunkFileNames: ({ name }) => `console/${name.replace(/^contracts~.*/, 'contracts')}-[hash].js`,
        codeSplitting: {
          groups: [
            { name: 'initial', tags: ['$initial'], priority: 2 },
            { name: 'console', test: /apps[\\/]console[\\/]src[\\/]console\.tsx$/, priority: 1 },
            // Small modules that most pages need.
            {
              name: 'common',
              test: /src[\\/](api[\\/]permissions|components[\\/](environments[\\/]environment(-|s-button|s\.module)|content[\\/](time|chip|person-name|project-name)|layout)|pages[\\/](connect[\\/]connect-sdk|flags[\\/]create-flag)-button)/,
            },
            {
              name: 'contracts',
              test: /libs[\\/]contracts/,
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: 4_000,
            },
          ],
        },
      },
    },
    // test/shell/size.spec.ts reads from it which chunks a page loads.
    manifest: 'manifest.json',
  },
  server: { proxy: { '/api': api, '/auth': api, '/logout': api, '/invite': api, '/health': api } },
});
