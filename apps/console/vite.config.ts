import react from '@vitejs/plugin-react';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Writes a brotli and a gzip file beside each file of the build, which the gateway serves as they are. */
const compress = (): Plugin => ({
  name: 'compress',
  apply: 'build',
  writeBundle({ dir = '' }) {
    for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(js|css|svg|html)$/.test(name)) continue;
      const file = path.join(dir, name);
      const bytes = readFileSync(file);
      const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
      writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    }
  },
});

const api = process.env['BUNTING_URL'] ?? 'http://127.0.0.1:4242';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compress()],
  build: {
    outDir: 'dist/web',
    assetsDir: 'console',
    target: 'es2023',
    // The content security policy allows no data: scripts and styles, and a small file costs one request once.
    assetsInlineLimit: 0,
    // Written by the browser as a <script> element otherwise, which the policy refuses.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Says what imports what, for the test of sizes.
    manifest: 'manifest.json',
  },
  server: { proxy: { '/api': api, '/auth': api, '/logout': api, '/invite': api, '/health': api } },
});
